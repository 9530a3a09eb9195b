/**
 * The frameworks' request types, without requiring any of them: the build marks these imports so that the compiler
 * ignores missing ones, which then become `any`. Types only.
 */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Request as OwnExpressRequest } from "express";
import type { FastifyRequest as OwnFastifyRequest } from "fastify";
import type { Context as OwnHonoContext } from "hono";

/** The part of a Fastify 5 request that these hooks use. */
export interface FastifyRequestLike {
  readonly method: string;
  readonly originalUrl: string;
  readonly headers: IncomingHttpHeaders;
}

/** The part of a Hono 4 context that this middleware uses. */
export interface HonoContextLike {
  readonly req: {
    readonly raw: Request;
    readonly bodyCache: object;
    arrayBuffer(): Promise<ArrayBuffer>;
  };
  /** On Node, the response, if the handler writes to it directly. */
  readonly env: unknown;
  readonly finalized: boolean;
  res: Response;
}

/** In objects, because for a missing type the compiler resolves the condition to that type. */
type IfInstalled<Own, Like> = { readonly own: 0 } extends { readonly own: 1 & Own } ? Like : Own;

type InstalledExpressRequest = IfInstalled<OwnExpressRequest, IncomingMessage>;
/** The request type of the installed Express. An interface, so that declarations name it, and not what Express imports for it. */
export interface ExpressRequest extends InstalledExpressRequest {}

/** The request type of the installed Fastify. */
export type FastifyRequest = IfInstalled<OwnFastifyRequest, FastifyRequestLike>;

/** The context type of the installed Hono. */
export type HonoContext = IfInstalled<OwnHonoContext, HonoContextLike>;

/** The request type of Nest on Express. On Fastify, annotate the request in `scope`. */
export type NestRequest = IfInstalled<OwnExpressRequest, object>;

/**
 * The type that the options decided. The place that the middleware is passed to must not influence it: it knows less than
 * the framework's own type. Unlike with `NoInfer`, editors show just the type.
 */
export type Decided<Req> = [Req][Req extends unknown ? 0 : never];

/** The bytes of a request's body on Node, if a parser kept them. */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { otherCopies, SHAPE, shared } from "../core/copies.ts";
import { InvalidOptionError } from "../core/errors.ts";
import { Beside } from "./beside.ts";

const kept = new Beside<Uint8Array>(
  Symbol.for(`onceonly.bodies.${SHAPE}`),
  shared("bodies", () => new WeakMap<object, Uint8Array>()),
);

/** Keeps the bytes that a body parser reads, so that the middleware can use them: `express.json({ verify: keepBody })`. */
export function keepBody(req: IncomingMessage, _res: unknown, bytes: Uint8Array): void {
  kept.set(req, bytes);
}

/**
 * A request with what parsers leave on it: Nest (`rawBody: true`) and others keep the bytes, `express.raw` sets the body
 * to them.
 */
export interface ParsedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body?: unknown;
  readonly rawBody?: unknown;
}

/**
 * @param advice what to do about a body whose bytes aren't known; without it, that isn't an error
 * @throws InvalidOptionError (`INVALID_OPTION`) for a body that was read without keeping its bytes.
 */
export function readKept(request: ParsedRequest, advice?: string): Uint8Array {
  const { body, rawBody } = request;
  const known = kept.get(request) ?? (typeof rawBody === "string" ? Buffer.from(rawBody) : (rawBody ?? body));
  if (known instanceof Uint8Array) return known;
  if (advice === undefined || !hasBody(request)) return new Uint8Array();
  const rule = `needs the raw bytes of the body: ${advice}${otherCopies("bodies")}`;
  throw new InvalidOptionError("fingerprint", rule, undefined);
}

function hasBody({ headers, ...request }: ParsedRequest): boolean {
  if (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0) return true;
  // HTTP/2 doesn't need either header.
  const { stream } = request as { readonly stream?: { readonly endAfterHeaders?: boolean } };
  return stream?.endAfterHeaders === false && headers["content-length"] === undefined;
}

/** Reads HTTP events of API Gateway (payload v1 and v2), ALB and function URLs in the same way. */
import { PayloadInvalidError } from "../../core/errors.ts";
import { isAuthenticated } from "../caller.ts";
import type { HttpProfile } from "../options.ts";

export interface HttpEvent {
  readonly method: string;
  /** All values of a header; case doesn't matter. */
  readonly headers: (name: string) => readonly string[];
  /** Payload v2 and function URLs: a result without a status is a body, and cookies have a field. */
  readonly isV2: boolean;
  /** ALB with multi-value headers ignores other headers in the response. */
  readonly isMultiValue: boolean;
  /** Whether the gateway reads multi-value headers in the response; only a REST API reads both kinds. */
  readonly readsLists: boolean;
  /** A request of `onceonly/http`, which can send more than a gateway. */
  readonly isServer: boolean;
  /** Whether the platform verified the caller. A function: with a getter, Node 20 kept each request's memory for much longer. */
  readonly isAuthenticated: () => boolean;
  /** The operation's convention for errors. */
  readonly profile: HttpProfile | undefined;
  /** When the gateway stops waiting for the response (epoch ms), less the time for the way back. */
  readonly gatewayEndsAt: number;
}

type ValuesByName<T> = Readonly<Record<string, T | undefined>> | null;

/** The event as the services send it. */
export interface RawEvent {
  /** `2.0` or `1.0` for HTTP APIs and function URLs; absent for REST APIs and ALB. */
  readonly version?: string;
  readonly httpMethod?: string;
  /** The matched route: in payload v2 with the method in front; `$default` for every route. */
  readonly routeKey?: string;
  readonly resource?: string;
  readonly pathParameters?: ValuesByName<string>;
  readonly path?: string;
  readonly rawPath?: string;
  readonly rawQueryString?: string;
  readonly queryStringParameters?: ValuesByName<string>;
  readonly multiValueQueryStringParameters?: ValuesByName<readonly string[]>;
  readonly headers?: ValuesByName<string>;
  readonly multiValueHeaders?: ValuesByName<readonly string[]>;
  readonly body?: unknown;
  readonly isBase64Encoded?: boolean;
  readonly requestContext?: {
    readonly http?: { readonly method?: string };
    readonly elb?: unknown;
    readonly domainName?: string;
    readonly stage?: string;
    readonly isServer?: boolean;
    /** Payload v1. */
    readonly requestTimeEpoch?: number;
    /** Payload v2. */
    readonly timeEpoch?: number;
  };
}

/** 29 seconds, minus one. https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html */
const GATEWAY_WAITS_MS = 28_000;

/** @throws PayloadInvalidError (`PAYLOAD_INVALID`) for an event that isn't HTTP. */
export function readHttpEvent(event: unknown, profile?: HttpProfile): HttpEvent {
  const raw = (event ?? {}) as RawEvent;
  const { requestContext } = raw;
  const hasLists = hasEntries(raw.multiValueHeaders);
  const method = methodOf(raw);
  const startedAt = isFunctionUrl(raw)
    ? undefined
    : (requestContext?.timeEpoch ?? requestContext?.requestTimeEpoch);
  return {
    method,
    headers: (name) => headerOf(raw, name),
    isV2: !raw.httpMethod,
    isMultiValue: Boolean(requestContext?.elb && hasLists),
    readsLists: Boolean(raw.httpMethod && (hasLists || !requestContext?.elb)),
    isServer: requestContext?.isServer === true,
    profile,
    isAuthenticated: () => isAuthenticated(raw),
    gatewayEndsAt: (startedAt ?? Infinity) + GATEWAY_WAITS_MS,
  };
}

/** A map of lists may be empty or incomplete next to the map of single values. */
function headerOf({ headers, multiValueHeaders }: RawEvent, name: string): readonly string[] {
  const listed = valuesOf(multiValueHeaders ?? {}, name);
  return listed.length > 0 ? listed : valuesOf(headers ?? {}, name);
}

/** Whether a map of lists has entries: tools and test events send empty ones. */
export function hasEntries(lists: object | null | undefined): boolean {
  return Object.keys(lists ?? {}).length > 0;
}

/** Called several times per request with a dozen headers and more, so compare the name's length first. */
function valuesOf(headers: Readonly<Record<string, unknown>>, name: string): readonly string[] {
  const wanted = name.toLowerCase();
  const found: unknown[] = [];
  for (const given of Object.keys(headers)) {
    if (given.length === wanted.length && given.toLowerCase() === wanted) found.push(headers[given] ?? []);
  }
  return found.flat() as string[];
}

/** A function URL can be called only by its own host. */
export function isFunctionUrl({ requestContext }: RawEvent): boolean {
  return requestContext?.domainName?.includes(".lambda-url.") === true;
}

/** @throws PayloadInvalidError (`PAYLOAD_INVALID`) for an event that isn't HTTP. */
export function methodOf({ requestContext, httpMethod }: RawEvent): string {
  const method = requestContext?.http?.method ?? httpMethod;
  if (typeof method === "string") return method.toUpperCase();
  throw new PayloadInvalidError(
    "the event isn't an HTTP request: use `idempotency` or `idempotent` for other events",
  );
}

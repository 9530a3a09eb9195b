/** HTTP events of API Gateway (payload v1 and v2), ALB and function URLs, read in one way. */
import { InvalidOptionError, PayloadInvalidError } from "../core/errors.ts";
import { hashTuple } from "../core/identity.ts";

export interface HttpEvent {
  readonly method: string;
  /** Path and query, such as two requests differ in them. */
  readonly path: string;
  readonly query: string;
  /** Every value of a header, whatever the case of its name. */
  readonly headers: (name: string) => readonly string[];
  /** Payload v2 and function URLs: a result without a status is a body, and cookies have a field. */
  readonly isV2: boolean;
  /** ALB with multi-value headers reads no others in the response. */
  readonly wantsMultiValueHeaders: boolean;
  /** When the gateway stops waiting for the response (epoch ms); `undefined` where there is no such limit. */
  readonly gatewayEndsAt: number | undefined;
}

type Values<T> = Readonly<Record<string, T | undefined>> | null;

interface RawEvent {
  readonly httpMethod?: string;
  readonly path?: string;
  readonly rawPath?: string;
  readonly rawQueryString?: string;
  readonly queryStringParameters?: Values<string>;
  readonly multiValueQueryStringParameters?: Values<readonly string[]>;
  readonly headers?: Values<string>;
  readonly multiValueHeaders?: Values<readonly string[]>;
  readonly body?: unknown;
  readonly isBase64Encoded?: boolean;
  readonly requestContext?: {
    readonly http?: { readonly method?: string };
    readonly elb?: unknown;
    readonly domainName?: string;
    /** Payload v1. */
    readonly requestTimeEpoch?: number;
    /** Payload v2. */
    readonly timeEpoch?: number;
  };
}

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html */
const GATEWAY_TIMEOUT_MS = 29_000;

/** @throws PayloadInvalidError (`PAYLOAD_INVALID`) for an event that is not HTTP. */
export function readHttpEvent(event: unknown): HttpEvent {
  const raw = (event ?? {}) as RawEvent;
  const { requestContext, multiValueHeaders } = raw;
  const method = requestContext?.http?.method ?? raw.httpMethod;
  if (typeof method !== "string") {
    throw new PayloadInvalidError("the event is not an HTTP request: use `idempotency` for other events");
  }
  const startedAt = requestContext?.timeEpoch ?? requestContext?.requestTimeEpoch;
  const isFunctionUrl = requestContext?.domainName?.includes(".lambda-url.");
  return {
    method: method.toUpperCase(),
    path: raw.rawPath ?? raw.path ?? "",
    query: raw.rawQueryString ?? sortedQuery(raw),
    headers: (name) =>
      Object.entries(multiValueHeaders ?? raw.headers ?? {})
        .filter(([given, values]) => given.toLowerCase() === name.toLowerCase() && values != null)
        .flatMap(([, values]) => values as string | readonly string[]),
    isV2: raw.httpMethod === undefined,
    wantsMultiValueHeaders: requestContext?.elb !== undefined && multiValueHeaders != null,
    gatewayEndsAt: startedAt === undefined || isFunctionUrl ? undefined : startedAt + GATEWAY_TIMEOUT_MS,
  };
}

/** The order of names in a map says nothing; the order of one name's values does. */
function sortedQuery({ multiValueQueryStringParameters, queryStringParameters }: RawEvent): string {
  const query = Object.entries(multiValueQueryStringParameters ?? queryStringParameters ?? {});
  return query.length === 0 ? "" : JSON.stringify(query.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Method, path, query and the raw bytes of the body: what the client sent, not what a parser made of it.
 * @throws InvalidOptionError (`INVALID_OPTION`) when the body is no longer text; PayloadInvalidError.
 */
export function httpFingerprint(event: unknown): string {
  const { method, path, query } = readHttpEvent(event);
  const { body, isBase64Encoded } = event as RawEvent;
  const text = body ?? "";
  if (typeof text !== "string") {
    throw new InvalidOptionError(
      "fingerprint",
      "must be given where event.body is parsed first: or let onceonly come before the body parser",
      undefined,
    );
  }
  if (!text.isWellFormed()) throw new PayloadInvalidError("the body holds a lone surrogate");
  return hashTuple(method, path, query, Buffer.from(text, isBase64Encoded ? "base64" : "utf8"));
}

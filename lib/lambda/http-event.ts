/** HTTP events of API Gateway (payload v1 and v2), ALB and function URLs, read in one way. */
import { InvalidOptionError, PayloadInvalidError } from "../core/errors.ts";
import { hashTuple } from "../core/identity.ts";
import { isAuthenticated } from "./caller.ts";

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
  readonly isMultiValue: boolean;
  /** The platform has verified somebody, whoever that is. */
  readonly isAuthenticated: boolean;
  /** Until when the gateway waits for the response (epoch ms), less the time that it takes to travel. */
  readonly gatewayEndsAt: number;
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

/** 29 seconds, less one. https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html */
const GATEWAY_WAITS_MS = 28_000;

/** @throws PayloadInvalidError (`PAYLOAD_INVALID`) for an event that is not HTTP. */
export function readHttpEvent(event: unknown): HttpEvent {
  const raw = (event ?? {}) as RawEvent;
  const { requestContext, multiValueHeaders } = raw;
  const method = requestContext?.http?.method ?? raw.httpMethod;
  if (typeof method !== "string")
    throw new PayloadInvalidError("not an HTTP request: use `idempotency` for other events");
  const isFunctionUrl = requestContext?.domainName?.includes(".lambda-url.");
  const startedAt = isFunctionUrl
    ? undefined
    : (requestContext?.timeEpoch ?? requestContext?.requestTimeEpoch);
  return {
    method: method.toUpperCase(),
    path: raw.rawPath ?? raw.path ?? "",
    query: raw.rawQueryString ?? sortedQuery(raw),
    headers: (name) =>
      Object.entries(multiValueHeaders ?? raw.headers ?? {}).flatMap(([given, values]) =>
        given.toLowerCase() === name.toLowerCase() ? (values ?? []) : [],
      ),
    isV2: !raw.httpMethod,
    isMultiValue: Boolean(requestContext?.elb && multiValueHeaders),
    isAuthenticated: isAuthenticated(raw),
    gatewayEndsAt: (startedAt ?? Infinity) + GATEWAY_WAITS_MS,
  };
}

/** The order of names in a map says nothing; the order of one name's values does. */
function sortedQuery({ multiValueQueryStringParameters, queryStringParameters }: RawEvent): string {
  return JSON.stringify(
    Object.entries(multiValueQueryStringParameters ?? queryStringParameters ?? {}).sort(),
  );
}

/**
 * Method, path, query and the raw bytes of the body: what the client sent, not what a parser made of it.
 * @throws InvalidOptionError (`INVALID_OPTION`) when the body is no longer text; PayloadInvalidError.
 */
export function httpFingerprint(event: unknown): string {
  const { method, path, query } = readHttpEvent(event);
  const { body, isBase64Encoded } = event as RawEvent;
  const text = body ?? "";
  if (typeof text !== "string")
    throw new InvalidOptionError(
      "fingerprint",
      "must be given, or onceonly come before the body parser",
      undefined,
    );
  if (!text.isWellFormed()) throw new PayloadInvalidError("the body holds a lone surrogate");
  return hashTuple(method, path, query, Buffer.from(text, isBase64Encoded ? "base64" : "utf8"));
}

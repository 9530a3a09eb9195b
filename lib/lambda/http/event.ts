/** HTTP events of API Gateway (payload v1 and v2), ALB and function URLs, read in one way. */
import { PayloadInvalidError } from "../../core/errors.ts";
import { isAuthenticated } from "../caller.ts";

export interface HttpEvent {
  readonly method: string;
  /** Every value of a header, whatever the case of its name. */
  readonly headers: (name: string) => readonly string[];
  /** Payload v2 and function URLs: a result without a status is a body, and cookies have a field. */
  readonly isV2: boolean;
  /** ALB with multi-value headers reads no others in the response. */
  readonly isMultiValue: boolean;
  /** Reads multi-value headers in the response, alone or beside the others: only a REST API reads both. */
  readonly readsLists: boolean;
  /** The request of `onceonly/http`, which sends what no gateway does. */
  readonly isServer: boolean;
  /** The platform has verified somebody, whoever that is. */
  readonly isAuthenticated: boolean;
  /** The end of the gateway's wait for the response (epoch ms), less the time of the way back. */
  readonly gatewayEndsAt: number;
}

type ValuesByName<T> = Readonly<Record<string, T | undefined>> | null;

/** As the services send it. */
export interface RawEvent {
  /** `2.0` or `1.0`, of HTTP APIs and function URLs; REST APIs and ALB name none. */
  readonly version?: string;
  readonly httpMethod?: string;
  /** The route that matched: of payload v2 with the method in front; `$default` for every route. */
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

/** 29 seconds, less one. https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html */
const GATEWAY_WAITS_MS = 28_000;

/** @throws PayloadInvalidError (`PAYLOAD_INVALID`) for an event that is not HTTP. */
export function readHttpEvent(event: unknown): HttpEvent {
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
    get isAuthenticated() {
      return isAuthenticated(raw);
    },
    gatewayEndsAt: (startedAt ?? Infinity) + GATEWAY_WAITS_MS,
  };
}

/** A map of lists may be there and empty, or hold a part only, beside the map of single values. */
function headerOf({ headers, multiValueHeaders }: RawEvent, name: string): readonly string[] {
  const listed = valuesOf(multiValueHeaders ?? {}, name);
  return listed.length > 0 ? listed : valuesOf(headers ?? {}, name);
}

/** Whether a map of lists says anything: tools and test events send empty ones. */
export function hasEntries(lists: object | null | undefined): boolean {
  return Object.keys(lists ?? {}).length > 0;
}

/** Asked a few times for each request, of a dozen headers and more, so that it looks at the length of a name first. */
function valuesOf(headers: Readonly<Record<string, unknown>>, name: string): readonly string[] {
  const wanted = name.toLowerCase();
  const found: unknown[] = [];
  for (const given of Object.keys(headers)) {
    if (given.length === wanted.length && given.toLowerCase() === wanted) found.push(headers[given] ?? []);
  }
  return found.flat() as string[];
}

/** Its own host is the only one by which a function URL can be called. */
export function isFunctionUrl({ requestContext }: RawEvent): boolean {
  return requestContext?.domainName?.includes(".lambda-url.") === true;
}

/** @throws PayloadInvalidError (`PAYLOAD_INVALID`) for an event that is not HTTP. */
export function methodOf({ requestContext, httpMethod }: RawEvent): string {
  const method = requestContext?.http?.method ?? httpMethod;
  if (typeof method === "string") return method.toUpperCase();
  throw new PayloadInvalidError("not an HTTP request: use `idempotency` for other events");
}

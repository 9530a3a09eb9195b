/** Stores the replayable part of a response, and responds with it again. */
import { RecordCorruptError, ResponseNotStorableError, ResultNotKeptError } from "../../core/errors.ts";
import { isHttpResponse, isStatus } from "../../core/http-result.ts";
import { findDropped, findUnfaithful } from "../../core/json.ts";
import type { ResultOutcome } from "../../core/outcome.ts";
import { withoutEncoding } from "./encodings.ts";
import type { HttpEvent } from "./event.ts";
import { type Headers, replayable, replayedTo, without } from "./replayed-headers.ts";

export interface HttpResponse {
  readonly statusCode: number;
  readonly headers?: Headers;
  readonly multiValueHeaders?: Headers;
  readonly cookies?: readonly string[];
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
  /** The record only says that the operation is done. */
  readonly isNotKept?: boolean;
  /** Only a server can send these. */
  readonly onServer?: {
    readonly message?: string | undefined;
    /** Written to Node's response on Hono. */
    readonly isDirect?: boolean;
    /** The header that names the trailers; replays over other connections don't carry it. */
    readonly trailer?: string;
    readonly trailers: readonly (readonly [name: string, value: string])[];
  };
}

/** Whether a response is final: 2xx and 3xx, and a value without a status, or whose status isn't a number. */
export function isFinalResponse(value: unknown): boolean {
  const status = Number(statusOf(value));
  return !(status < 200 || status >= 400);
}

function statusOf(value: unknown): unknown {
  return (value as Partial<HttpResponse> | null | undefined)?.statusCode ?? undefined;
}

/** @throws ResponseNotStorableError (`RESPONSE_NOT_STORABLE`) if the gateway or a replay would change the response. */
export function toStoredResponse(value: unknown, { isV2 }: HttpEvent): unknown {
  const status = statusOf(value);
  if (status === undefined) refuseUnread(value);
  if (isV2 && status === undefined) return asBody(value);
  if (!isStatus(status)) throw notStorable("it has no statusCode");
  const { cookies: _, isNotKept, ...response } = value as HttpResponse;
  if (isNotKept) return undefined;
  if (typeof (response.body ?? "") !== "string")
    throw notStorable("its body isn't a string: `use` the serializer after onceonly");
  const { headers, multiValueHeaders, ...decoded } = withoutEncoding(response);
  return { ...decoded, headers: storable(headers), multiValueHeaders: storable(multiValueHeaders) };
}

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html */
function asBody(value: unknown): HttpResponse {
  let body: string;
  try {
    body = typeof value === "string" ? value : JSON.stringify(value ?? null);
  } catch (cause) {
    throw notStorable("it isn't JSON", cause);
  }
  const dropped = findDropped(value);
  if (dropped) throw notStorable(`${dropped.path} is ${dropped.why}`);
  return { statusCode: 200, headers: { "content-type": "application/json" }, body };
}

/**
 * @throws ResponseNotStorableError (`RESPONSE_NOT_STORABLE`) for a fetch Response and for streams, which store their
 * content elsewhere.
 */
function refuseUnread(value: unknown): void {
  const { arrayBuffer, getReader, pipe } = Object(value) as Readonly<Record<string, unknown>>;
  const isUnread = [arrayBuffer, getReader, pipe].some((each) => typeof each === "function");
  if (isUnread)
    throw notStorable(
      "it is a fetch Response or an unread stream: read it, and return { statusCode, headers, body }",
    );
}

function notStorable(why: string, cause?: unknown): ResponseNotStorableError {
  return new ResponseNotStorableError(`can't store the response: ${why}`, { cause });
}

/** A value that isn't plain JSON stays unchanged, and the encoder names it. */
function storable(headers: Headers | undefined): Headers | undefined {
  return !headers || findUnfaithful(headers) ? headers : replayable(headers);
}

/**
 * The first caller gets all headers and cookies; a replay is marked as one.
 * @throws RecordCorruptError (`RECORD_CORRUPT`) if the replayed value isn't a response.
 */
export function answerWith(outcome: ResultOutcome, event: HttpEvent): unknown {
  const { replayed, original } = outcome;
  const result = outcome.result as HttpResponse;
  if (replayed) {
    if (result === undefined) throw new ResultNotKeptError(0);
    if (!isHttpResponse(result)) throw new RecordCorruptError("the stored result isn't an HTTP response");
    const [origin] = event.headers("origin");
    return withHeader(event, readable(replayedTo(origin, result), event), "Idempotent-Replayed", "true");
  }
  if (statusOf(original) === undefined) return result;
  const { headers, multiValueHeaders, cookies, body, isBase64Encoded } = original as HttpResponse;
  return { ...result, headers, multiValueHeaders, cookies, body, isBase64Encoded };
}

/**
 * A retry may come through another service than the first try, which reads only the other header form. A REST API reads
 * both.
 */
function readable(replayed: HttpResponse, { isMultiValue, readsLists, isServer }: HttpEvent): HttpResponse {
  const { onServer, ...response } = replayed;
  if (isServer) return replayed;
  const { headers, multiValueHeaders } = response;
  if (isMultiValue && headers && !multiValueHeaders) {
    const lists = Object.entries(headers).map(([name, value]) => [name, [`${value}`]]);
    return { ...response, multiValueHeaders: Object.fromEntries(lists) };
  }
  if (!readsLists && multiValueHeaders && !headers) {
    const lines = Object.entries(multiValueHeaders).map(([name, all]) => [name, [all].flat().join(", ")]);
    return { ...response, headers: Object.fromEntries(lines) };
  }
  return response;
}

/** Adds a header in the form that the event's gateway reads. */
export function withHeader(
  { isMultiValue }: HttpEvent,
  response: HttpResponse,
  name: string,
  value: string,
): HttpResponse {
  const field = isMultiValue ? "multiValueHeaders" : "headers";
  return { ...response, [field]: { ...response[field], [name]: isMultiValue ? [value] : value } };
}

/** Replaces the response's headers of the same names, in any case and form. */
export function withHeaders(
  event: HttpEvent,
  response: unknown,
  headers: Readonly<Record<string, string>>,
): unknown {
  const given = response as HttpResponse;
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  const isReplaced = (name: string) => names.includes(name);
  const cleared = {
    ...given,
    ...(given.headers && { headers: without(given.headers, isReplaced) }),
    ...(given.multiValueHeaders && { multiValueHeaders: without(given.multiValueHeaders, isReplaced) }),
  };
  return Object.entries(headers).reduce<HttpResponse>(
    (changed, [name, value]) => withHeader(event, changed, name, value),
    cleared,
  );
}

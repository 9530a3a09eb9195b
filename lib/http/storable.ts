/** The storable form of a handler's response: read to its end, and without an encoding that some callers can't read. */
import { isUtf8 } from "node:buffer";
import { ResponseNotStorableError } from "../core/errors.ts";
import { kindOf } from "../core/kind-of.ts";
import { DECODERS, isOfEncoded } from "../lambda/http/encodings.ts";
import type { HttpResponse } from "../lambda/http/response.ts";

export type Trailers = readonly (readonly [name: string, value: string])[];

/** A response whose body may still be a stream. */
export interface AnyResponse {
  readonly status: number;
  /** The status message, unless it's the default one. */
  readonly message?: string | undefined;
  readonly headers: Iterable<readonly [name: string, value: string]>;
  readonly trailers?: Trailers;
  readonly body: Uint8Array | AsyncIterable<unknown> | null;
  /** Written to Node's response on Hono, which then adds nothing to it. */
  readonly isDirect?: boolean;
  /** Why this response can't be repeated. */
  readonly refusal?: string | undefined;
}

export interface ReadResponse extends AnyResponse {
  readonly body: Buffer;
}

/** Belong to the connection, or are derived from the body. */
const NOT_KEPT = [
  "content-length",
  "content-encoding",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "date",
];

/** Statuses without a body. */
export function isBodiless(status: number): boolean {
  return status < 200 || status === 204 || status === 304;
}

/**
 * @throws ResponseNotStorableError (`RESPONSE_NOT_STORABLE`) for a body that never ends, exceeds `maxBytes`, or can't be
 * read.
 */
export async function readResponse(answer: AnyResponse, maxBytes: number): Promise<ReadResponse> {
  const { status, headers, refusal } = answer;
  if (refusal) throw refused(refusal);
  if (status < 200)
    throw refused(`its status is ${status}, which switches the connection to another protocol`);
  for (const [name, value] of headers)
    if (name.toLowerCase() === "content-type" && value.startsWith("text/event-stream"))
      throw refused("it is an event stream");
  const { body } = answer;
  const isRead = Buffer.isBuffer(body) && body.length <= maxBytes;
  return { ...answer, body: isRead ? body : await readAll(body, maxBytes) };
}

/** @throws ResponseNotStorableError (`RESPONSE_NOT_STORABLE`) for an encoding that can't be read. */
export function toStorable(
  { status, message, headers, trailers = [], body, isDirect }: ReadResponse,
  maxBytes: number,
): HttpResponse {
  // Without a prototype: a header may be called `constructor`.
  const kept: Record<string, string> = Object.create(null);
  const cookies: string[] = [];
  let encoding = "";
  for (const [given, value] of headers) {
    const name = given.toLowerCase();
    if (name === "content-encoding") encoding = value.toLowerCase();
    if (name === "set-cookie") cookies.push(value);
    else if (!NOT_KEPT.includes(name) || (name === "content-length" && isBodiless(status)))
      kept[name] = name in kept ? `${kept[name]}, ${value}` : value;
  }
  const bytes = decoded(body, encoding, maxBytes);
  if (bytes !== body) for (const name of Object.keys(kept).filter(isOfEncoded)) delete kept[name];
  const isText = isUtf8(bytes);
  return {
    statusCode: status,
    headers: kept,
    cookies,
    body: bytes.toString(isText ? "utf8" : "base64"),
    isBase64Encoded: !isText,
    ...((message || isDirect || kept.trailer || trailers.length > 0) && {
      onServer: {
        ...(message && { message }),
        ...(isDirect && { isDirect }),
        ...(kept.trailer && { trailer: kept.trailer }),
        trailers,
      },
    }),
  };
}

async function readAll(body: AnyResponse["body"], maxBytes: number): Promise<Buffer> {
  const read: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const part of body === null ? [] : body instanceof Uint8Array ? [body] : body) {
      const chunk = bytesOf(part);
      bytes += chunk.length;
      // Leaving the loop ends the stream.
      if (bytes > maxBytes)
        throw refused(`its body has more than ${maxBytes} bytes: raise \`maxResponseBytes\``);
      read.push(chunk);
    }
  } catch (cause) {
    if (cause instanceof ResponseNotStorableError) throw cause;
    throw refused("reading its body failed", cause);
  }
  return Buffer.concat(read);
}

function bytesOf(part: unknown): Uint8Array {
  if (typeof part === "string") return Buffer.from(part);
  if (part instanceof Uint8Array) return part;
  throw refused(`its body produced ${kindOf(part)} instead of bytes`);
}

function decoded(bytes: Buffer, encoding: string, maxBytes: number): Buffer {
  if (encoding === "" || encoding === "identity" || bytes.length === 0) return bytes;
  const decode = DECODERS.get(encoding);
  if (!decode) throw refused(`its content-encoding is ${encoding}: compress responses outside of onceonly`);
  try {
    return Buffer.from(decode(bytes, { maxOutputLength: maxBytes }));
  } catch (cause) {
    throw refused("its content-encoding can't be decoded, or its body is too large", cause);
  }
}

function refused(why: string, cause?: unknown): ResponseNotStorableError {
  return new ResponseNotStorableError(`can't store the response: ${why}`, { cause });
}

/** The parts of a response. Node sends a string together with the head. */
export function parts({ headers = {}, cookies = [], body = "", isBase64Encoded, onServer }: HttpResponse): {
  readonly headers: readonly (readonly [string, string])[];
  readonly message: string | undefined;
  readonly trailer: string | undefined;
  readonly trailers: Trailers;
  readonly body: string | Buffer;
} {
  const values = Object.entries(headers).map(([name, value]) => [name, `${value}`] as const);
  return {
    headers: [...values, ...cookies.map((cookie) => ["set-cookie", cookie] as const)],
    message: onServer?.message,
    trailer: onServer?.trailer,
    trailers: onServer?.trailers ?? [],
    body: isBase64Encoded ? Buffer.from(body, "base64") : body,
  };
}

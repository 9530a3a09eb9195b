/** The answer of a server's handler as it is stored: read to its end, and without an encoding that some callers cannot read. */
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import { ResponseNotStorableError } from "../core/errors.ts";
import type { HttpResponse } from "../lambda/http/response.ts";

/** An answer whose body may still be a stream. */
export interface AnyResponse {
  readonly status: number;
  readonly headers: Iterable<readonly [name: string, value: string]>;
  readonly body: Uint8Array | AsyncIterable<Uint8Array> | null;
}

/** These are of the connection, or made anew from the body. */
const NOT_KEPT = [
  "content-length",
  "content-encoding",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "date",
];

const DECODERS: Readonly<
  Record<string, (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array>
> = { gzip: gunzipSync, deflate: inflateSync, br: brotliDecompressSync };

/** @throws ResponseNotStorableError (`RESPONSE_NOT_STORABLE`) for a body without an end, beyond `maxBytes`, or that nobody can read. */
export async function toStorable(
  { status, headers, body }: AnyResponse,
  maxBytes: number,
): Promise<HttpResponse> {
  // Without a prototype: a header may be called `constructor`.
  const kept: Record<string, string> = Object.create(null);
  const cookies: string[] = [];
  let encoding = "";
  for (const [given, value] of headers) {
    const name = given.toLowerCase();
    if (name === "content-encoding") encoding = value.toLowerCase();
    if (name === "content-type" && value.startsWith("text/event-stream"))
      throw refused("it is a stream of events");
    if (name === "set-cookie") cookies.push(value);
    else if (!NOT_KEPT.includes(name)) kept[name] = name in kept ? `${kept[name]}, ${value}` : value;
  }
  const bytes = decoded(await readAll(body, maxBytes), encoding, maxBytes);
  const text = bytes.toString("utf8");
  const isText = bytes.equals(Buffer.from(text, "utf8"));
  return {
    statusCode: status,
    headers: kept,
    ...(cookies.length > 0 && { cookies }),
    body: isText ? text : bytes.toString("base64"),
    isBase64Encoded: !isText,
  };
}

async function readAll(body: AnyResponse["body"], maxBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body === null ? [] : body instanceof Uint8Array ? [body] : body) {
    bytes += part.length;
    // The loop ends the stream.
    if (bytes > maxBytes)
      throw refused(`its body has more than ${maxBytes} bytes: raise \`maxResponseBytes\``);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function decoded(bytes: Buffer, encoding: string, maxBytes: number): Buffer {
  if (encoding === "" || encoding === "identity" || bytes.length === 0) return bytes;
  const decode = DECODERS[encoding];
  if (!decode) throw refused(`its encoding is ${encoding}: compress outside of onceonly`);
  try {
    return Buffer.from(decode(bytes, { maxOutputLength: maxBytes }));
  } catch (cause) {
    throw refused("its encoding cannot be read, or its body is too large", cause);
  }
}

function refused(why: string, cause?: unknown): ResponseNotStorableError {
  return new ResponseNotStorableError(`the response cannot be stored: ${why}`, { cause });
}

/** The headers of an answer, cookies one by one, and its body. Node sends a text and the head before it at once. */
export function parts({ headers = {}, cookies = [], body = "", isBase64Encoded }: HttpResponse): {
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | Buffer;
} {
  const values = Object.entries(headers).map(([name, value]) => [name, `${value}`] as const);
  return {
    headers: [...values, ...cookies.map((cookie) => ["set-cookie", cookie] as const)],
    body: isBase64Encoded ? Buffer.from(body, "base64") : body,
  };
}

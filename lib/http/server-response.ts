/** Headers, status messages and whole responses of a ServerResponse, for HTTP/1 and HTTP/2. */
import { isAscii as isAsciiBytes } from "node:buffer";
import { type OutgoingHttpHeaders, type ServerResponse, STATUS_CODES } from "node:http";
import type { HttpResponse } from "../lambda/http/response.ts";
import { type AnyResponse, isBodiless, parts } from "./storable.ts";

/** Node copies a text that it sends with the head. */
const MAX_TEXT = 16 * 1024;

export const isHttp2 = (res: ServerResponse) => "stream" in res;

/** HTTP/2 has no status messages, and Node warns on each use. */
export function setMessage(res: ServerResponse, message: string): void {
  if (!isHttp2(res)) res.statusMessage = message;
}

export function messageOf(res: ServerResponse): string | undefined {
  if (isHttp2(res)) return undefined;
  const { statusCode, statusMessage } = res;
  return statusMessage && statusMessage !== STATUS_CODES[statusCode] ? statusMessage : undefined;
}

export const isAscii = (text: string) => !/[^\0-\x7f]/.test(text);

/** Sends a response that didn't come from the handler. */
export function sendAnswer(res: ServerResponse, answer: HttpResponse): void {
  const { headers, message, trailer, trailers, body } = parts(answer);
  const cookies = headers.filter(([name]) => name === "set-cookie").map(([, value]) => value);
  // With a string, Node would send the head in UTF-8.
  const sent = headers.every(([, value]) => isAscii(value)) ? body : Buffer.from(body as string);
  if (trailer) res.setHeader("trailer", trailer);
  for (const [name, value] of headers) if (name !== "set-cookie") res.setHeader(name, value);
  for (const cookie of cookies) res.appendHeader("set-cookie", cookie);
  writeAnswer(res, { status: Number(answer.statusCode), message, trailers, body: sent });
}

/** Writes a whole response, keeping the headers already set. */
export function writeAnswer(
  res: ServerResponse,
  {
    status,
    message = "",
    trailers = [],
    body,
  }: Pick<AnyResponse, "status" | "message" | "trailers"> & { readonly body: string | Buffer },
): void {
  if (res.destroyed) return;
  res.statusCode = status;
  setMessage(res, message);
  if (trailers.length > 0 || res.hasHeader("trailer")) {
    // In chunks, which trailers need.
    res.write(body);
    // HTTP/2 accepts only an object; HTTP/1 also accepts a list, in which a name may repeat.
    const given = isHttp2(res) ? Object.fromEntries(trailers) : (trailers as [string, string][]);
    res.addTrailers(given);
    res.end();
    return;
  }
  const isSized = !(isBodiless(status) || res.req?.method === "HEAD" || res.hasHeader("transfer-encoding"));
  // Node omits the length if the header was ever removed from the response.
  if (isSized) res.setHeader("content-length", Buffer.byteLength(body));
  // As one piece with the head. In ASCII, a text is the same bytes in any encoding.
  if (typeof body !== "string" && body.length <= MAX_TEXT && isAsciiBytes(body))
    res.end(body.toString("latin1"), "latin1");
  else res.end(body);
}

export function hasHeaders(res: ServerResponse, headers: OutgoingHttpHeaders): boolean {
  const names = Object.keys(headers);
  return (
    res.getHeaderNames().length === names.length &&
    names.every((name) => res.getHeader(name) === headers[name])
  );
}

/** Changes only what differs, because Node doesn't add its own header once it was removed. */
export function putHeaders(res: ServerResponse, headers: OutgoingHttpHeaders): void {
  for (const [name, value] of Object.entries(res.getHeaders()))
    if (`${value}` !== `${headers[name]}`) res.removeHeader(name);
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !res.hasHeader(name)) res.setHeader(name, value);
}

/** Each value of each header. */
export function linesOf(headers: OutgoingHttpHeaders): (readonly [string, string])[] {
  const lines: (readonly [string, string])[] = [];
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (Array.isArray(value)) for (const each of value) lines.push([name, each]);
    else if (value !== undefined) lines.push([name, `${value}`]);
  }
  return lines;
}

/** Node throws for these, and must throw inside the handler. */
export function isUnsendable(status: number, message = ""): boolean {
  return !(status >= 100 && status < 1000) || /[^\t\x20-\x7e\x80-\xff]/.test(message);
}

/** `writeHead` accepts an object, a list of pairs, or a flat list of names and values, in which a name may repeat. */
export function setHeaders(res: ServerResponse, given: OutgoingHttpHeaders | readonly unknown[] = {}): void {
  if (!Array.isArray(given)) {
    for (const [name, value] of Object.entries(given)) res.setHeader(name, value as string);
    return;
  }
  const pairs = Array.isArray(given[0])
    ? (given as [string, string][])
    : Array.from({ length: given.length / 2 }, (_, at) => given.slice(2 * at, 2 * at + 2));
  for (const [name] of pairs) res.removeHeader(name);
  for (const [name, value] of pairs) res.appendHeader(name, value);
}

/** One request, each on a connection of its own, that can be reset or carry a key that no HTTP client would send. */
import { Agent, type IncomingHttpHeaders, type RequestOptions, request as sendHttp } from "node:http";
import { Agent as SecureAgent, request as sendHttps } from "node:https";
import { connect as connectTcp } from "node:net";
import { buffer } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";

export type Header = readonly [name: string, value: string];

export interface Request {
  readonly url: URL;
  readonly method: string;
  readonly headers: readonly Header[];
  readonly body?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** How long a server may take for one response. */
const TIMEOUT_MS = 60_000;

/** @param isLost resets the connection as soon as the response has been read, as when the last mile breaks */
export async function send(request: Request, { isLost = false } = {}): Promise<Answer> {
  const sent = open(request, isLost);
  const response = await new Promise<import("node:http").IncomingMessage>((resolve, reject) => {
    sent.on("response", resolve).on("error", reject).end(request.body);
  });
  const { socket } = response;
  const body = (await buffer(response)).toString();
  // On a socket that is ending already, Node 20 would spin from then on.
  if (isLost && !socket.destroyed && socket.writable) socket.resetAndDestroy();
  return { status: response.statusCode!, headers: response.headers, body };
}

/** Sends the request, and resets the connection before there can be a response. */
export async function sendAndLeave(request: Request, leave: () => Promise<void>): Promise<void> {
  const sent = open(request);
  sent.on("error", () => undefined);
  const isWritten = new Promise<void>((resolve) => void sent.end(request.body, resolve));
  await Promise.race([isWritten, new Promise<void>((resolve) => void sent.once("close", resolve))]);
  await leave();
  if (sent.socket && !sent.socket.destroyed) sent.socket.resetAndDestroy();
}

/** @param isKept leaves the connection open after the response */
function open({ url, method, headers, body }: Request, isKept = false) {
  const isSecure = url.protocol === "https:";
  const lines = new Map<string, string[]>();
  for (const [name, value] of headers) lines.set(name, [...(lines.get(name) ?? []), value]);
  const options: RequestOptions = {
    ...{
      method,
      agent: isKept && new (isSecure ? SecureAgent : Agent)({ keepAlive: true }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    },
    headers: {
      ...Object.fromEntries(lines),
      ...(body !== undefined && { "content-length": Buffer.byteLength(body) }),
    },
  };
  return isSecure ? sendHttps(url, options) : sendHttp(url, options);
}

/**
 * Sends header values that HTTP forbids, byte by byte (latin1).
 * @returns the status, or `undefined` if the server closes the connection without one
 */
export function sendRaw({ url, method, headers, body = "" }: Request): Promise<number | undefined> {
  const bytes = Buffer.from(body);
  const head = [
    `${method} ${url.pathname}${url.search} HTTP/1.1`,
    `host: ${url.host}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    `content-length: ${bytes.length}`,
    "connection: close",
  ];
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  return new Promise((resolve, reject) => {
    const socket =
      url.protocol === "https:" ? connectTls({ host, port, servername: host }) : connectTcp({ host, port });
    let text = "";
    const end = () => resolve(Number(/^HTTP\/1\.\d (\d{3})/.exec(text)?.[1]) || undefined);
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error("no response")));
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
    });
    socket
      .on("close", end)
      .on("error", (error) => (text === "" && isNoAnswer(error) ? reject(error) : end()));
    socket.write(Buffer.from(`${head.join("\r\n")}\r\n\r\n`, "latin1"));
    socket.write(bytes);
  });
}

const isNoAnswer = (error: Error) =>
  !["ECONNRESET", "EPIPE"].includes(`${(error as NodeJS.ErrnoException).code}`);

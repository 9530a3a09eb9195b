/** Keeps an answer of node:http back until it is known whether it counts. */
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { HttpResponse } from "../lambda/http/response.ts";
import { type AnyResponse, parts } from "./storable.ts";

export interface Captured {
  /** What the handler answers; never, where it does not end its answer. */
  readonly ended: Promise<AnyResponse>;
  /** Sends what counts in the place of that. */
  send(answer: HttpResponse): void;
  /** Gives the response back as it was: another middleware answers. */
  release(): void;
}

type HeadArguments = readonly [status: number, ...rest: unknown[]];

/** From here on the response writes to memory. A body beyond `maxBytes` ends there, and is refused later. */
export function captured(res: ServerResponse, maxBytes: number): Captured {
  const before = new Map(res.getHeaderNames().map((name) => [name, res.getHeader(name)] as const));
  const statusBefore = res.statusCode;
  const own = { writeHead: res.writeHead, write: res.write, end: res.end, flushHeaders: res.flushHeaders };
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isHeadWritten = false;
  let isEnded = false;
  let answered!: (answer: AnyResponse) => void;
  const ended = new Promise<AnyResponse>((resolve) => {
    answered = resolve;
  });

  function take(chunk: unknown, encoding: unknown): void {
    if (typeof chunk !== "string" && !(chunk instanceof Uint8Array)) return;
    const coding = typeof encoding === "string" ? (encoding as BufferEncoding) : "utf8";
    const taken = typeof chunk === "string" ? Buffer.from(chunk, coding) : Buffer.from(chunk);
    bytes += taken.length;
    chunks.push(taken);
  }
  const callBack = (...given: unknown[]) => {
    const callback = given.find((each) => typeof each === "function") as (() => void) | undefined;
    if (callback) process.nextTick(callback);
  };

  res.writeHead = ((...[status, ...rest]: HeadArguments) => {
    isHeadWritten = true;
    res.statusCode = status;
    const headers = rest.find((each) => typeof each === "object" && each !== null);
    for (const [name, value] of headersOf(headers as OutgoingHttpHeaders | undefined))
      res.setHeader(name, value);
    return res;
  }) as ServerResponse["writeHead"];
  res.flushHeaders = () => {};
  res.write = ((chunk: unknown, encoding?: unknown, callback?: unknown) => {
    if (isEnded) return false;
    take(chunk, encoding);
    // A handler that writes without an end would wait for a drain that does not come.
    if (bytes > maxBytes) return res.end() === undefined;
    callBack(encoding, callback);
    return true;
  }) as ServerResponse["write"];
  res.end = ((chunk?: unknown, encoding?: unknown, callback?: unknown) => {
    if (isEnded) return res;
    isEnded = true;
    // What waits for the head, such as a session's cookie, is told.
    if (!isHeadWritten) res.writeHead(res.statusCode);
    take(typeof chunk === "function" ? undefined : chunk, encoding);
    callBack(chunk, encoding, callback);
    // Headers of middlewares around this one are theirs, on a replay too.
    const isOwn = ([name]: readonly [string, string]) => `${before.get(name)}` !== `${res.getHeader(name)}`;
    answered({
      status: res.statusCode,
      headers: [...linesOf(res)].filter(isOwn),
      body: Buffer.concat(chunks),
    });
    return res;
  }) as ServerResponse["end"];

  const release = () => {
    Object.assign(res, own);
  };
  return {
    ended,
    release,
    send(answer) {
      release();
      for (const name of res.getHeaderNames()) res.removeHeader(name);
      for (const [name, value] of before) if (value !== undefined) res.setHeader(name, value);
      res.statusCode = statusBefore;
      const { headers, body } = parts(answer);
      const cookies = headers.filter(([name]) => name === "set-cookie").map(([, value]) => value);
      for (const [name, value] of headers) if (name !== "set-cookie") res.setHeader(name, value);
      if (cookies.length > 0) res.setHeader("set-cookie", cookies);
      res.statusCode = Number(answer.statusCode);
      res.end(body);
    },
  };
}

/** Each header, and each of its values, once. */
export function* linesOf(res: Pick<ServerResponse, "getHeaders">): Generator<readonly [string, string]> {
  for (const [name, value] of Object.entries(res.getHeaders()))
    for (const each of [value ?? []].flat()) yield [name, `${each}`];
}

/** `writeHead` takes an object, a list of pairs, or a list of names and values in turn. */
function headersOf(
  given: OutgoingHttpHeaders | readonly unknown[] | undefined,
): [string, string | string[]][] {
  if (!Array.isArray(given))
    return Object.entries(given ?? {}).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value : `${value}`]],
    );
  const flat = (given as readonly unknown[]).flat() as string[];
  return Array.from({ length: flat.length / 2 }, (_, index) => [
    `${flat[2 * index]}`,
    `${flat[2 * index + 1]}`,
  ]);
}

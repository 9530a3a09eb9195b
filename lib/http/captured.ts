/** Holds back everything that a handler does to a ServerResponse until it's known which response counts. */
import {
  type OutgoingHttpHeaders,
  type ServerResponse,
  validateHeaderName,
  validateHeaderValue,
} from "node:http";
import { kindOf } from "../core/kind-of.ts";
import { Interrupted } from "../core/running.ts";
import { guarded } from "./guarded-connection.ts";
import { type Methods, replaced } from "./replaced-methods.ts";
import type { Settled } from "./serve.ts";
import {
  hasHeaders,
  isAscii,
  isHttp2,
  isUnsendable,
  linesOf,
  messageOf,
  putHeaders,
  sendAnswer,
  setHeaders,
  setMessage,
  writeAnswer,
} from "./server-response.ts";
import type { AnyResponse, Trailers } from "./storable.ts";

export interface Captured {
  /** The handler's response. Rejects if the handler destroys it; stays pending until it ends. */
  readonly ended: Promise<AnyResponse>;
  /** Resolves when the caller's connection closes. */
  readonly gone: Promise<void>;
  /** Something else responds while the handler may go on: nothing is recorded, and the claim is left to its lease. */
  interrupt(error: unknown): void;
  /** Sends the response that counts. */
  send(settled: Settled): void;
  /** Makes the response usable again, without the handler's headers, because something else will respond. */
  reset(): void;
  /** Makes the response usable again, unchanged. */
  release(): void;
}

export interface CaptureOptions {
  readonly maxBytes: number;
  /** Headers set by other middlewares. They aren't part of the handler's response. */
  readonly before?: OutgoingHttpHeaders;
  /** Whether the handler may see that its caller disconnected. @default false */
  readonly showsClose?: boolean;
}

/** The state that Node keeps on a response, in addition to its methods. */
interface NodeState {
  _header: string | null;
  _closed: boolean;
  finished: boolean;
}

/** Makes the response write to memory from now on. */
export function captured(
  res: ServerResponse,
  { maxBytes, before = res.getHeaders(), showsClose = false }: CaptureOptions,
): Captured {
  const { statusCode, sendDate } = res;
  const state = res as unknown as NodeState;
  const [writeHead, destroy, emit] = [res.writeHead, res.destroy, res.emit];
  const chunks: Buffer[] = [];
  const trailers: Trailers[number][] = [];
  const held: Parameters<ServerResponse["emit"]>[] = [];
  let bytes = 0;
  let isHeadWritten = false;
  let isEnded = false;
  let isWritten = false;
  let isHeadUtf8 = false;
  let isReleased = false;
  let isClosed = false;
  let snapshot: OutgoingHttpHeaders = {};
  let answered!: (answer: AnyResponse) => void;
  let failed!: (error: Interrupted) => void;
  let left!: () => void;
  const gone = new Promise<void>((resolve) => {
    left = resolve;
  });
  const ended = new Promise<AnyResponse>((resolve, reject) => {
    answered = resolve;
    failed = reject;
  });
  ended.catch(() => {});
  if (res.destroyed) {
    left();
    isClosed = !showsClose;
    if (isClosed) showClosed(res, false);
  }

  function end(refusal?: string): void {
    if (isEnded) return;
    isEnded = true;
    showState(true, false);
    snapshot = isHeadUtf8 && !isHttp2(res) ? inUtf8(res.getHeaders()) : res.getHeaders();
    const isOwn = ([name]: readonly [string, string]) => `${before[name]}` !== `${snapshot[name]}`;
    answered({
      status: res.statusCode,
      message: messageOf(res),
      headers: [...linesOf(snapshot)].filter(isOwn),
      trailers: hasTrailers(isWritten, snapshot) ? trailers : [],
      body: Buffer.concat(chunks),
      refusal,
    });
  }
  /** The state that middlewares read. Once a response has ended, a late error handler needn't close the connection. */
  function showState(hasEnded: boolean, hasHead: boolean): void {
    if (isHttp2(res)) return;
    state.finished = hasEnded;
    state._header = hasHead ? "held back" : null;
  }
  function take(chunk: unknown, encoding: unknown): void {
    const isText = typeof chunk === "string";
    if (!isText && !(chunk instanceof Uint8Array)) {
      end(`its handler wrote ${kindOf(chunk)}`);
      return;
    }
    const coding = typeof encoding === "string" ? (encoding as BufferEncoding) : "utf8";
    // Node joins the head and the first text to one string, unless the body comes in chunks.
    isHeadUtf8 ||=
      isText && coding === "utf8" && chunks.length === 0 && !(isWritten && !res.hasHeader("content-length"));
    // A copy: the handler may use its buffer again.
    const taken = isText ? Buffer.from(chunk, coding) : Buffer.from(chunk);
    bytes += taken.length;
    chunks.push(taken);
    // Stops a handler that never stops writing. The size is refused later.
    if (bytes > maxBytes) end();
  }
  const callBack = (...given: unknown[]) => {
    const callback = given.find((each) => typeof each === "function") as (() => void) | undefined;
    if (callback) process.nextTick(callback);
  };
  const head = () => {
    // Call the response's own method, because other middlewares intercept the head there.
    if (!isHeadWritten) res.writeHead(res.statusCode);
  };

  const methods: Methods = {
    writeHead(status: number, ...rest: unknown[]) {
      if (isEnded) return res;
      const [message] = rest;
      // Node throws for a second head too; on HTTP/2 it doesn't know yet that there was one.
      const isRefused = isHeadWritten
        ? !isHttp2(res)
        : isUnsendable(status, typeof message === "string" ? message : messageOf(res));
      if (isRefused) return Reflect.apply(writeHead, res, [status, ...rest]);
      if (isHeadWritten) return res;
      const headers = rest.find((each) => typeof each === "object" && each !== null);
      setHeaders(res, headers as OutgoingHttpHeaders | readonly unknown[] | undefined);
      isHeadWritten = true;
      res.statusCode = Math.trunc(status);
      if (typeof message === "string") setMessage(res, message);
      showState(false, true);
      if (`${res.getHeader("content-type")}`.startsWith("text/event-stream")) end();
      return res;
    },
    flushHeaders: head,
    write(chunk: unknown, encoding?: unknown, callback?: unknown) {
      if (isEnded) return false;
      head();
      isWritten = true;
      take(chunk, encoding);
      callBack(encoding, callback);
      return !isEnded;
    },
    end(chunk?: unknown, encoding?: unknown, callback?: unknown) {
      if (isEnded) return res;
      head();
      if (typeof (chunk ?? callBack) !== "function") take(chunk, encoding);
      callBack(chunk, encoding, callback);
      end();
      return res;
    },
    addTrailers(given: Trailers | Readonly<Record<string, string>>) {
      for (const [name, value] of Array.isArray(given) ? given : Object.entries(given)) {
        validateHeaderName(name);
        validateHeaderValue(name, value);
        trailers.push([name, `${value}`]);
      }
    },
    detachSocket() {
      end("its handler detached the response from its connection");
    },
    destroy(error?: Error) {
      if (!isEnded) failed(new Interrupted(error ?? new Error("the handler destroyed its response")));
      Reflect.apply(destroy, res, [error]);
      return res;
    },
    emit(...event: Parameters<typeof emit>) {
      const [name] = event;
      if (name === "close") left();
      if (showsClose || (name !== "close" && name !== "finish")) return Reflect.apply(emit, res, event);
      held.push(event);
      if (name === "close") {
        isClosed = true;
        showClosed(res, false);
      }
      return false;
    },
  };
  const restore = replaced(res, methods);
  const unguard = guarded(res, end);
  const release = () => {
    if (isReleased) return;
    isReleased = true;
    unguard();
    restore();
    showState(false, false);
    if (isClosed) showClosed(res, true);
    for (const event of held) res.emit(...event);
  };
  return {
    ended,
    gone,
    release,
    interrupt(error) {
      failed(new Interrupted(error));
      release();
    },
    reset() {
      release();
      if (res.headersSent) return;
      putHeaders(res, before);
      res.statusCode = statusCode;
      setMessage(res, "");
      res.sendDate = sendDate;
    },
    send({ answer, own }) {
      if (!own) {
        this.reset();
        sendAnswer(res, answer);
        return;
      }
      release();
      // Changes after the end of the response don't count.
      if (!hasHeaders(res, snapshot)) putHeaders(res, snapshot);
      for (const [name, value] of own.added) res.setHeader(name, value);
      writeAnswer(res, own);
    },
  };
}

/** The values as Node sends them with a text. Other heads are sent in latin1. */
function inUtf8(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  if (Object.values(headers).every((value) => isAscii(`${value}`))) return headers;
  const sent = (value: unknown) => Buffer.from(`${value}`).toString("latin1");
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(sent) : sent(value),
    ]),
  );
}

/** On HTTP/2 the state belongs to the stream, and streams piped into the response can't see it. */
function showClosed(res: ServerResponse, isClosed: boolean): void {
  if (isHttp2(res)) return;
  res.destroyed = isClosed;
  (res as unknown as NodeState)._closed = isClosed;
}

/** Node omits trailers if it knows the body's length before it sends the head. */
function hasTrailers(
  isWritten: boolean,
  { trailer, "content-length": length }: OutgoingHttpHeaders,
): boolean {
  return length === undefined && (isWritten || trailer !== undefined);
}

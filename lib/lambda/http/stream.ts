/** HTTP handlers that stream their response (`awslambda.streamifyResponse`), and replays of what they sent. */
import { isUtf8 } from "node:buffer";
import { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { refuseDurable } from "../../core/durable.ts";
import { ClaimLostError, InvalidOptionError } from "../../core/errors.ts";
import type { LambdaContext } from "../../core/lambda-context.ts";
import type { Outcome } from "../../core/outcome.ts";
import { type WithIdempotency, withExecution } from "../context.ts";
import type { HttpIdempotencyOptions, HttpRequestEvent } from "../options.ts";
import { named } from "../wrapper.ts";
import { httpAdapter } from "./adapter.ts";
import type { HttpResponse } from "./response.ts";

/** The stream that a handler gets from `awslambda.streamifyResponse`. */
export interface ResponseStream extends Writable {
  setContentType(type: string): void;
}

export interface HttpStreamOptions<Event = HttpRequestEvent, Write = unknown>
  extends Omit<HttpIdempotencyOptions<Event, Write>, "responseHeaders"> {
  /**
   * Larger responses still reach the caller, but only the fact that the operation is done is kept: replays get 410. It's
   * also how much of a response is held in memory, in bytes.
   * @default 1000000
   */
  readonly maxResponseBytes?: number;
}

/** Lambda's names for a stream that begins with status and headers. */
interface WithPrelude {
  _onBeforeFirstWrite?: (write: (part: string | Uint8Array) => unknown) => void;
}

interface Prelude {
  readonly statusCode?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[]>>;
  readonly cookies?: readonly string[];
}

/** https://docs.aws.amazon.com/lambda/latest/dg/response-streaming-tutorial.html */
const PRELUDE_TYPE = "application/vnd.awslambda.http-integration-response";
const PRELUDE_END = new Uint8Array(8);
const DEFAULT_TYPE = "application/octet-stream";
const DEFAULT_MAX_BYTES = 1_000_000;

/**
 * `httpIdempotent` for a handler that streams its response: `awslambda.streamifyResponse(httpIdempotentStream(handler, options))`.
 * The caller gets each chunk when the handler writes it, and the end of the response once it is recorded: a caller that has the
 * whole response can rely on it. A retry gets the same status, headers and bytes, marked with `Idempotent-Replayed: true`.
 *
 * Of event streams (`text/event-stream`) and responses above `maxResponseBytes` only the fact is kept: a retry runs nothing, and
 * gets 410. If the handler fails after its first chunk, or another attempt has answered meanwhile, Lambda ends the stream with an
 * error, so that the caller knows to ask again.
 *
 * Set status and headers with `awslambda.HttpResponseStream.from(stream, { statusCode, headers })`, as without onceonly. There is
 * no `responseHeaders`, because these are sent before the outcome is known; headers of a `profile` are only on replays and
 * refusals.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately, and on the first event without a stream.
 */
export function httpIdempotentStream<Event = HttpRequestEvent, Write = unknown>(
  handler: (event: Event, stream: ResponseStream, context: LambdaContext & WithIdempotency<Write>) => unknown,
  options: HttpStreamOptions<Event, Write>,
): (event: Event, stream: ResponseStream, context: LambdaContext) => Promise<void> {
  if (typeof handler !== "function")
    throw new InvalidOptionError("handler", "must be a function, and comes before the options", handler);
  const { maxResponseBytes = DEFAULT_MAX_BYTES, ...others } = options;
  if (!(Number.isInteger(maxResponseBytes) && maxResponseBytes >= 0))
    throw new InvalidOptionError("maxResponseBytes", "must be a whole number of bytes", maxResponseBytes);
  if ("responseHeaders" in others)
    throw new InvalidOptionError(
      "responseHeaders",
      "can't be added to a stream: set headers with `awslambda.HttpResponseStream.from`",
    );
  const adapter = httpAdapter<Event, Write>(others as HttpIdempotencyOptions<Event, Write>);
  return named(options, async (event: Event, stream: ResponseStream, context: LambdaContext) => {
    if (typeof (stream as Partial<ResponseStream> | undefined)?.write !== "function") throw unstreamed();
    refuseDurable("handler", event, context);
    const run = adapter(event, context);
    if (typeof run !== "function") {
      await handler(event, stream, run.context as LambdaContext & WithIdempotency<Write>);
      return;
    }
    let kept: KeptStream | undefined;
    let outcome: Outcome | undefined;
    const answer = (await run(
      async (attempt) => {
        kept = new KeptStream(stream, maxResponseBytes);
        const ended = finished(kept);
        ended.catch(() => {});
        try {
          await handler(event, kept, withExecution(context, attempt));
          await ended;
        } finally {
          kept.destroy();
        }
        return kept.response();
      },
      (known) => {
        outcome = known;
      },
    )) as HttpResponse;
    const isOwn = outcome !== undefined && !outcome.replayed && !outcome.failure;
    if (!isOwn && kept?.hasBegun) throw outcome?.failure?.error ?? interrupted();
    if (!isOwn) send(stream, answer);
    await ending(stream);
  });
}

/** Passes on what a handler writes, except the end, and keeps it up to a limit. */
class KeptStream extends Writable implements ResponseStream {
  /** Set by `awslambda.HttpResponseStream.from`. */
  declare _onBeforeFirstWrite: WithPrelude["_onBeforeFirstWrite"];
  readonly #to: ResponseStream;
  readonly #maxBytes: number;
  #type = DEFAULT_TYPE;
  #prelude: Prelude = {};
  #chunks: Buffer[] = [];
  #bytes = 0;
  hasBegun = false;

  constructor(to: ResponseStream, maxBytes: number) {
    super({ highWaterMark: to.writableHighWaterMark });
    this.#to = to;
    this.#maxBytes = maxBytes;
  }

  setContentType(type: string): void {
    this.#to.setContentType(type);
    this.#type = type;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#begin();
    this.#bytes += chunk.length;
    if (this.#bytes <= this.#maxBytes) this.#chunks.push(chunk);
    else this.#chunks = [];
    const to = this.#to;
    // The effect counts even if the caller is gone.
    if (to.destroyed || to.write(chunk)) {
      done();
      return;
    }
    const goOn = () => {
      for (const event of ["drain", "close"]) to.removeListener(event, goOn);
      done();
    };
    for (const event of ["drain", "close"]) to.on(event, goOn);
  }

  override _final(done: () => void): void {
    // Without a write, Lambda sends neither status nor headers.
    if (!this.hasBegun && this._onBeforeFirstWrite) this._write(Buffer.alloc(0), "", done);
    else done();
  }

  response(): HttpResponse & { readonly isNotKept: boolean } {
    const { statusCode = 200, headers, multiValueHeaders, cookies } = this.#prelude;
    const body = Buffer.concat(this.#chunks);
    const isText = isUtf8(body);
    const types = { ...(multiValueHeaders ?? (!headers && { "content-type": this.#type })), ...headers };
    const isEvents = Object.entries(types).some(
      ([name, value]) => name.toLowerCase() === "content-type" && /^text\/event-stream\b/i.test(`${value}`),
    );
    return {
      statusCode,
      ...(!multiValueHeaders && { headers: headers ?? types }),
      ...(multiValueHeaders && headers && { headers }),
      ...(multiValueHeaders && { multiValueHeaders }),
      ...(cookies && { cookies }),
      body: body.toString(isText ? "utf8" : "base64"),
      isBase64Encoded: !isText,
      isNotKept: isEvents || this.#bytes > this.#maxBytes,
    };
  }

  #begin(): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    if (!this._onBeforeFirstWrite) return;
    (this.#to as WithPrelude)._onBeforeFirstWrite = this._onBeforeFirstWrite;
    const parts: unknown[] = [];
    this._onBeforeFirstWrite((part) => parts.push(part));
    this.#prelude = JSON.parse(`${parts[0]}`) as Prelude;
  }
}

/** Sends a response that didn't come from this call's handler. */
function send(stream: ResponseStream, answer: HttpResponse): void {
  const { statusCode, headers, multiValueHeaders, cookies, body = "", isBase64Encoded } = answer;
  stream.setContentType(PRELUDE_TYPE);
  stream.write(JSON.stringify({ statusCode, headers, multiValueHeaders, cookies }));
  stream.write(PRELUDE_END);
  stream.write(Buffer.from(body, isBase64Encoded ? "base64" : "utf8"));
}

/** Lambda's stream isn't a Writable that `finished` accepts. */
function ending(stream: ResponseStream): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.once("error", reject);
    stream.once("close", resolve);
    stream.once("finish", resolve);
    if (stream.destroyed) resolve();
    else stream.end();
  });
}

function interrupted(): ClaimLostError {
  return new ClaimLostError("another attempt has answered while this one sent its response: ask again");
}

function unstreamed(): InvalidOptionError {
  return new InvalidOptionError(
    "handler",
    "must be called with a response stream: export `awslambda.streamifyResponse(httpIdempotentStream(handler, options))`",
  );
}

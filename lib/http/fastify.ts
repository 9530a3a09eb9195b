/** The Fastify adapter: hooks for a route or a scope. */
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { HttpResponse } from "../lambda/http/response.ts";
import { Beside } from "./beside.ts";
import { keepBody, readKept } from "./body.ts";
import { type Captured, captured } from "./captured.ts";
import type { WithExecutionOf } from "./current.ts";
import type { Decided, FastifyRequest, FastifyRequestLike } from "./frameworks.ts";
import { orGone } from "./gone.ts";
import type { ServerOptions } from "./options.ts";
import { type ServerAdapter, type Settled, serverAdapter } from "./serve.ts";
import { linesOf, sendAnswer } from "./server-response.ts";
import { isBodiless, parts } from "./storable.ts";

/** A body as Fastify's parsers read it. If it was decompressed before these hooks, the encoded length counts. */
type Payload = Readable & { readonly receivedEncodedLength?: number };

/** The part of a Fastify 5 reply that these hooks use. */
export interface FastifyReplyLike {
  /** From `node:http` or `node:http2`. */
  readonly raw: object;
  readonly sent: boolean;
  statusCode: number;
  getHeaders(): Record<string, number | string | string[] | undefined>;
  removeHeader(name: string): unknown;
  header(name: string, value: unknown): unknown;
  hijack(): unknown;
  send(payload?: unknown): unknown;
}

/** The hooks, `app.post("/orders", { ...hooks }, handler)`, and `hooks.executionOf(request)`, which returns the attempt. */
export interface FastifyHooks<Req, Write = unknown> extends WithExecutionOf<FastifyRequestLike, Write> {
  preParsing(request: Req, reply: unknown, payload: Payload): Promise<Payload>;
  preHandler(request: Req, reply: FastifyReplyLike): Promise<unknown>;
  onError(request: Req, reply: unknown, error: { readonly code?: string }): Promise<void>;
}

const ADVICE =
  "neither a parser of this route nor `rawBody` kept them, so set `fingerprint`, as you would for uploads and for bodies that the handler reads itself";

/**
 * Hooks for Fastify 5, for a route or `addHook`. Authenticate before `preHandler`. The handler gets its attempt from
 * `hooks.executionOf(request)`. The response is held back until it is recorded, including one from an error handler or a
 * hijacked reply.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately, and for a request whose body no parser has read.
 */
export function fastifyIdempotency<Req extends FastifyRequestLike = FastifyRequest, Write = unknown>(
  options: ServerOptions<Req, Write>,
): FastifyHooks<Decided<Req>, Write> {
  const { isServed, begin, interrupt, executionOf } = fastifyAdapter(options);
  const hooks = {
    async preParsing(request: Req, _reply: unknown, payload: Payload) {
      if (!isServed(request.method)) return payload;
      return new Keeping(request, payload);
    },

    async preHandler(request: Req, reply: FastifyReplyLike) {
      const isHandled = await begin(request, reply);
      return isHandled ? undefined : reply;
    },

    async onError(request: Req, _reply: unknown, error: { readonly code?: string }) {
      // The route's `handlerTimeout` responds while the handler keeps running.
      if (error.code === "FST_ERR_HANDLER_TIMEOUT") interrupt(request, error);
    },
  };
  // Not copied into the options of a route.
  return Object.defineProperty(hooks, "executionOf", { value: executionOf }) as FastifyHooks<
    Decided<Req>,
    Write
  >;
}

interface FastifyAdapter<Req, Write> extends Pick<ServerAdapter<Req, Write>, "executionOf"> {
  readonly isServed: (method: string) => boolean;
  /**
   * Resolves to whether the handler should run; if not, a response was sent. Doesn't resolve to the reply, because a
   * reply is itself a promise.
   */
  readonly begin: (request: Req, reply: FastifyReplyLike) => Promise<boolean>;
  readonly interrupt: (request: Req, error: unknown) => void;
}

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function fastifyAdapter<Req extends FastifyRequestLike, Write>(
  options: ServerOptions<Req, Write>,
): FastifyAdapter<Req, Write> {
  const { serve, isServed, isSkipped, clock, maxBytes, executionOf } = serverAdapter(options);
  const captures = new Beside<Captured>(Symbol("onceonly.capture"));
  const interrupted = new WeakSet<object>();
  async function begin(request: Req, reply: FastifyReplyLike): Promise<boolean> {
    const { method, originalUrl: target } = request;
    if (!isServed(method)) return true;
    const headers = linesOf(request.headers);
    const readBody = (isNeeded: boolean) => readKept(request, isNeeded ? ADVICE : undefined);
    const served = { native: request, method, target, headers, readBody };
    if (await isSkipped(served)) return true;
    const before = { ...reply.getHeaders() } as OutgoingHttpHeaders;
    const raw = rawOf(reply);
    let settled!: Promise<Settled>;
    const begun = new Promise<Captured>((resolve) => {
      settled = serve(served, () => {
        const capture = captured(raw, { maxBytes, before });
        captures.set(request, capture);
        resolve(capture);
        return orGone(capture, clock);
      });
    });
    const first = await Promise.race([begun, settled]);
    if ("answer" in first) {
      sendReply(reply, first.answer);
      return false;
    }
    settled
      .then((answer) => first.send(answer))
      .catch((error: unknown) => {
        if (interrupted.has(request)) return;
        first.reset();
        // The caller disconnected, or a response is already on its way.
        if (raw.destroyed || raw.headersSent) raw.destroy();
        else fail(reply, error);
      });
    return true;
  }
  function interrupt(request: Req, error: unknown): void {
    interrupted.add(request);
    captures.get(request)?.interrupt(error);
  }
  return { isServed, begin, interrupt, executionOf };
}

function rawOf({ raw }: FastifyReplyLike): ServerResponse {
  return raw as ServerResponse;
}

const OBJECTS = "a `preParsing` hook before onceonly's returned a stream of objects, not of bytes";

/**
 * Keeps the bytes that a parser reads. Parsers that read elsewhere, such as for uploads, leave none. A pipeline or a generator
 * would cost as much as Fastify itself.
 */
class Keeping extends Readable {
  readonly #request: object;
  readonly #payload: Payload;
  #isReading = false;

  constructor(request: object, payload: Payload) {
    super();
    this.#request = request;
    this.#payload = payload;
    // Fastify stops listening once it has read the body or refused it, and an error that no listener gets ends the process.
    this.on("error", () => {});
  }

  get receivedEncodedLength(): number | undefined {
    return this.#payload.receivedEncodedLength;
  }

  override _read(): void {
    if (!this.#isReading) this.#begin(this.#payload);
    // Also the first time: a plugin may have paused it.
    this.#payload.resume();
  }

  #begin(payload: Payload): void {
    this.#isReading = true;
    const chunks: Uint8Array[] = [];
    let hasEnded = false;
    payload.on("data", (chunk: Uint8Array | string) => {
      // Another plugin may have replaced the payload by a stream of strings.
      const bytes =
        typeof chunk === "string" ? Buffer.from(chunk, payload.readableEncoding ?? "utf8") : chunk;
      if (!(bytes instanceof Uint8Array)) {
        payload.destroy();
        this.destroy(Object.assign(new TypeError(OBJECTS), { statusCode: 500 }));
        return;
      }
      chunks.push(bytes);
      if (!this.push(bytes)) payload.pause();
    });
    payload.on("end", () => {
      hasEnded = true;
      keepBody(this.#request as never, undefined, Buffer.concat(chunks));
      this.push(null);
    });
    payload.on("error", (error) => this.destroy(error));
    payload.on("close", () => {
      if (!hasEnded) this.destroy(new Error("the connection was closed before the end of the body"));
    });
  }
}

/** Sends a response that didn't come from the handler, through the hooks of other plugins. */
function sendReply(reply: FastifyReplyLike, answer: HttpResponse): void {
  const { headers, message, trailer, trailers, body } = parts(answer);
  if (trailer || trailers.length > 0) {
    // Some versions of Fastify send no trailers after a stream.
    const before = Object.entries(reply.getHeaders());
    reply.hijack();
    for (const [name, value] of before) if (value !== undefined) rawOf(reply).setHeader(name, value);
    sendAnswer(rawOf(reply), answer);
    return;
  }
  for (const [name, value] of headers) reply.header(name, value);
  reply.statusCode = Number(answer.statusCode);
  if (message) rawOf(reply).statusMessage = message;
  if (body.length === 0 || isBodiless(reply.statusCode)) return void reply.send();
  reply.header("content-length", Buffer.byteLength(body));
  // Fastify would add a content type to a string or bytes.
  reply.send(Readable.from([Buffer.from(body as string)], { objectMode: false }));
}

/** The handler has already responded, but its response doesn't count. */
function fail(reply: FastifyReplyLike, error: unknown): void {
  for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name);
  reply.send(error);
  if (!reply.sent || rawOf(reply).headersSent) return;
  // Fastify sends nothing for a hijacked reply.
  rawOf(reply).statusCode = 500;
  rawOf(reply).end();
}

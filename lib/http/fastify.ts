/** The face for Fastify: hooks of a route, or of a scope. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { HttpResponse } from "../lambda/http/response.ts";
import { keepBody, readKept } from "./body.ts";
import { type Captured, captured } from "./captured.ts";
import { orGone } from "./gone.ts";
import type { ServerOptions } from "./options.ts";
import { type Settled, serverFace } from "./serve.ts";
import { linesOf, sendAnswer } from "./server-response.ts";
import { isBodiless, parts } from "./storable.ts";

/** What these hooks use of a request of Fastify 5. */
export interface FastifyRequestLike {
  readonly method: string;
  readonly originalUrl: string;
  readonly headers: IncomingHttpHeaders;
}

/** A body as parsers of Fastify read it. A decompression before these hooks counts what it was sent. */
type Payload = AsyncIterable<Uint8Array> & { readonly receivedEncodedLength?: number };

/** What these hooks use of a reply of Fastify 5. */
export interface FastifyReplyLike {
  /** Of `node:http` or `node:http2`. */
  readonly raw: object;
  readonly sent: boolean;
  statusCode: number;
  getHeaders(): Record<string, number | string | string[] | undefined>;
  removeHeader(name: string): unknown;
  header(name: string, value: unknown): unknown;
  hijack(): unknown;
  send(payload?: unknown): unknown;
}

/** The hooks of a route: `app.post("/orders", { ...hooks }, handler)`. */
export interface FastifyHooks<Req> {
  preParsing(request: Req, reply: unknown, payload: Payload): Promise<Payload>;
  preHandler(request: Req, reply: FastifyReplyLike): Promise<unknown>;
  onError(request: Req, reply: unknown, error: { readonly code?: string }): Promise<void>;
}

const ADVICE =
  "neither a parser of this route nor `rawBody` has them, so give `fingerprint`, as for uploads and for bodies that the handler reads";

/**
 * Hooks for Fastify 5, for a route or by `addHook`. Authentication comes before `preHandler`. The handler gets its attempt by
 * `executionOf(request)`. The answer is kept back until it is recorded: also what an error handler answers, and what a
 * hijacked reply writes.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) at once, and for a request whose body no parser has read.
 */
export function fastifyIdempotency<Req extends FastifyRequestLike = FastifyRequestLike, Write = unknown>(
  options: ServerOptions<Req, Write>,
): FastifyHooks<Req> {
  const { isServed, begin, interrupt } = fastifyFace(options);
  return {
    async preParsing(request, _reply, payload) {
      if (!isServed(request.method)) return payload;
      return Object.defineProperty(
        Readable.from(keeping(request, payload), { objectMode: false }),
        "receivedEncodedLength",
        {
          get: () => payload.receivedEncodedLength,
        },
      );
    },

    async preHandler(request, reply) {
      const isHandled = await begin(request, reply);
      return isHandled ? undefined : reply;
    },

    async onError(request, _reply, error) {
      // The route's `handlerTimeout` answers, and the handler goes on.
      if (error.code === "FST_ERR_HANDLER_TIMEOUT") interrupt(request, error);
    },
  };
}

interface FastifyFace<Req> {
  readonly isServed: (method: string) => boolean;
  /**
   * Resolves to whether the handler is to run; else an answer is sent. No reply is resolved to, because one is a promise itself, of
   * nothing.
   */
  readonly begin: (request: Req, reply: FastifyReplyLike) => Promise<boolean>;
  readonly interrupt: (request: Req, error: unknown) => void;
}

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function fastifyFace<Req extends FastifyRequestLike, Write>(
  options: ServerOptions<Req, Write>,
): FastifyFace<Req> {
  const { serve, isServed, clock, maxBytes } = serverFace(options);
  const captures = new WeakMap<object, Captured>();
  const interrupted = new WeakSet<object>();
  async function begin(request: Req, reply: FastifyReplyLike): Promise<boolean> {
    const { method, originalUrl: target } = request;
    if (!isServed(method)) return true;
    const headers = linesOf(request.headers);
    const readBody = (isNeeded: boolean) => readKept(request, isNeeded ? ADVICE : undefined);
    const before = { ...reply.getHeaders() } as OutgoingHttpHeaders;
    const raw = rawOf(reply);
    let settled!: Promise<Settled>;
    const begun = new Promise<Captured>((resolve) => {
      settled = serve({ native: request, method, target, headers, readBody }, () => {
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
        // The caller has gone, or the answer is already on its way.
        if (raw.destroyed || raw.headersSent) raw.destroy();
        else fail(reply, error);
      });
    return true;
  }
  function interrupt(request: Req, error: unknown): void {
    interrupted.add(request);
    captures.get(request)?.interrupt(error);
  }
  return { isServed, begin, interrupt };
}

function rawOf({ raw }: FastifyReplyLike): ServerResponse {
  return raw as ServerResponse;
}

/** Keeps the bytes that a parser reads. One that reads elsewhere, as for uploads, leaves none. */
async function* keeping(request: object, payload: Payload): AsyncGenerator<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of payload) {
    chunks.push(chunk);
    yield chunk;
  }
  keepBody(request as never, undefined, Buffer.concat(chunks));
}

/** Sends an answer that no handler has begun, through the hooks of other plugins. */
function sendReply(reply: FastifyReplyLike, answer: HttpResponse): void {
  const { headers, message, trailers, body } = parts(answer);
  if (trailers.length > 0) {
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
  // To a text or bytes Fastify would add a type.
  reply.send(Readable.from([Buffer.from(body as string)], { objectMode: false }));
}

/** The handler has answered already, and the answer doesn't count. */
function fail(reply: FastifyReplyLike, error: unknown): void {
  for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name);
  reply.send(error);
  if (!reply.sent || rawOf(reply).headersSent) return;
  // A hijacked reply sends nothing by itself.
  rawOf(reply).statusCode = 500;
  rawOf(reply).end();
}

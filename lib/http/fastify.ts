/** The face for Fastify: hooks of a route, or of a scope. */
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { InvalidOptionError } from "../core/errors.ts";
import type { HttpResponse } from "../lambda/http/response.ts";
import { linesOf } from "./captured.ts";
import { orGone } from "./gone.ts";
import type { ServerOptions } from "./options.ts";
import { serverFace } from "./serve.ts";
import { type AnyResponse, parts } from "./storable.ts";

/** What these hooks use of a request of Fastify 5. */
export interface FastifyRequestLike {
  readonly method: string;
  readonly originalUrl: string;
  readonly headers: IncomingHttpHeaders;
  /** Its limit is that of the route, or the server's. */
  readonly routeOptions: { readonly bodyLimit: number };
}

/** A body as parsers of Fastify read it. A decompression before these hooks counts what it was sent. */
type Payload = AsyncIterable<Uint8Array> & { readonly receivedEncodedLength?: number };

/** What these hooks use of a reply of Fastify 5. */
export interface FastifyReplyLike {
  readonly raw: ServerResponse;
  statusCode: number;
  getHeaders(): Record<string, number | string | string[] | undefined>;
  removeHeader(name: string): unknown;
  header(name: string, value: unknown): unknown;
  send(payload: unknown): unknown;
}

/** The hooks of a route: `app.post("/orders", { ...hooks }, handler)`. */
export interface FastifyHooks<Req> {
  preParsing(request: Req, reply: unknown, payload: Payload): Promise<Payload>;
  preHandler(request: Req, reply: FastifyReplyLike): Promise<unknown>;
  onSend(request: Req, reply: FastifyReplyLike, payload: unknown): Promise<unknown>;
}

type ReplyHeaders = Readonly<ReturnType<FastifyReplyLike["getHeaders"]>>;

interface Call {
  readonly answered: (answer: AnyResponse) => void;
  readonly settled: Promise<HttpResponse>;
  readonly before: ReplyHeaders;
}

/**
 * Hooks for Fastify 5, for a route or by `addHook`. Authentication comes before `preHandler`. The handler gets its attempt by
 * `executionOf(request)`. The answer is kept back until it is recorded: also what an error handler answers.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) at once.
 */
export function fastifyIdempotency<Req extends FastifyRequestLike = FastifyRequestLike, Write = unknown>(
  options: ServerOptions<Req, Write>,
): FastifyHooks<Req> {
  const { serve, isServed, clock } = serverFace(options);
  const bodies = new WeakMap<object, Uint8Array>();
  const calls = new WeakMap<object, Call>();
  const untyped = new WeakSet<object>();

  return {
    async preParsing(request, _reply, payload) {
      if (!isServed(request.method)) return payload;
      const chunks: Uint8Array[] = [];
      let bytes = 0;
      const reading = payload[Symbol.asyncIterator]();
      for (let next = await reading.next(); !next.done; next = await reading.next()) {
        chunks.push(next.value);
        bytes += next.value.length;
        // Fastify refuses what is larger, unless a parser has a limit of its own.
        if (bytes > request.routeOptions.bodyLimit)
          return Readable.from(all(chunks, reading), { objectMode: false });
      }
      const body = Buffer.concat(chunks);
      bodies.set(request, body);
      return Object.assign(Readable.from([body], { objectMode: false }), {
        receivedEncodedLength: payload.receivedEncodedLength ?? body.length,
      });
    },

    async preHandler(request, reply) {
      const { method, originalUrl: target } = request;
      if (!isServed(method)) return undefined;
      const headers = linesOf({ getHeaders: () => request.headers });
      const body = bodies.get(request);
      if (body === undefined) throw tooLarge();
      const before = { ...reply.getHeaders() };
      let settled!: Promise<HttpResponse>;
      const begun = new Promise<"runs">((begin) => {
        settled = serve({ native: request, method, target, headers, body }, () => {
          const ended = new Promise<AnyResponse>((answered) => {
            calls.set(request, { answered, settled, before });
          });
          begin("runs");
          return orGone(reply.raw, ended, clock);
        });
      });
      const answer = await Promise.race([begun, settled]);
      // Who waits for a caller that has gone tells nobody.
      settled.catch(() => {});
      if (answer === "runs") return undefined;
      const sent = replaced(reply, answer, before);
      if (reply.getHeaders()["content-type"] === undefined) untyped.add(request);
      // To the type of a text Fastify would add a charset.
      return reply.send(Buffer.from(sent as string));
    },

    async onSend(request, reply, payload) {
      const call = calls.get(request);
      // Fastify names a type for what is sent before the handler.
      if (untyped.delete(request)) reply.removeHeader("content-type");
      if (!call) return payload;
      // An error handler may answer once more.
      calls.delete(request);
      const { answered, settled, before } = call;
      // Headers of hooks around this one are theirs, on a replay too.
      const isOwn = ([name]: readonly [string, string]) =>
        `${before[name]}` !== `${reply.getHeaders()[name]}`;
      const headers = [...linesOf(reply)].filter(isOwn);
      answered({ status: reply.statusCode, headers, body: bytesOf(payload) });
      return replaced(reply, await settled, before);
    },
  };
}

/** What was read, and what comes behind. */
async function* all(
  read: readonly Uint8Array[],
  reading: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* read;
  for (let next = await reading.next(); !next.done; next = await reading.next()) yield next.value;
}

function tooLarge(): InvalidOptionError {
  return new InvalidOptionError(
    "fingerprint",
    "needs the bytes of the body, which are more than the `bodyLimit` of the route: raise it to that of the parser",
    undefined,
  );
}

/** Puts the answer that counts in the place of what the reply has. */
function replaced(reply: FastifyReplyLike, answer: HttpResponse, before: ReplyHeaders): string | Buffer {
  const { headers, body } = parts(answer);
  for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name);
  const own = headers.filter(([name]) => name !== "set-cookie");
  for (const [name, value] of [...Object.entries(before), ...own]) reply.header(name, value);
  const cookies = headers.filter(([name]) => name === "set-cookie").map(([, value]) => value);
  if (cookies.length > 0) {
    reply.removeHeader("set-cookie");
    reply.header("set-cookie", cookies);
  }
  reply.statusCode = Number(answer.statusCode);
  return body;
}

function bytesOf(payload: unknown): AnyResponse["body"] {
  if (payload === null || payload === undefined) return null;
  if (typeof payload === "string") return Buffer.from(payload);
  if (payload instanceof Response) return payload.body as AnyResponse["body"];
  return payload as Uint8Array | AsyncIterable<Uint8Array>;
}

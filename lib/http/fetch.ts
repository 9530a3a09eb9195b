/** The adapter for Fetch API servers and for Hono. */
import type { ServerResponse } from "node:http";
import { InvalidOptionError, PayloadTooLargeError } from "../core/errors.ts";
import type { Execution } from "../core/execution.ts";
import { kindOf } from "../core/kind-of.ts";
import { type Captured, captured } from "./captured.ts";
import type { WithExecutionOf } from "./current.ts";
import type { Decided, HonoContext, HonoContextLike } from "./frameworks.ts";
import { orGone } from "./gone.ts";
import { checkedBytes, type FetchServerOptions } from "./options.ts";
import { type Served, type ServerAdapter, type Settled, serverAdapter } from "./serve.ts";
import { sendAnswer } from "./server-response.ts";
import { type AnyResponse, isBodiless, parts } from "./storable.ts";

/** Responds to a request. `execution` is absent if the method isn't in `methods`. */
export type FetchNext<Write> = (
  request: Request,
  execution: Execution<Write> | undefined,
) => Response | Promise<Response>;

const DEFAULT_MAX_REQUEST_BYTES = 1_048_576;

/** By this header Hono's server for Node knows that the handler wrote to Node's response. */
const ALREADY_SENT = "x-hono-already-sent";

function fetchAdapter<Native extends object, Write>({
  maxRequestBytes = DEFAULT_MAX_REQUEST_BYTES,
  ...options
}: FetchServerOptions<Native, Write>): ServerAdapter<Native, Write> & { readonly maxRequestBytes: number } {
  checkedBytes("maxRequestBytes", maxRequestBytes);
  return { ...serverAdapter<Native, Write>(options), maxRequestBytes };
}

/** The middleware, and `executionOf` for code that doesn't receive the execution from `next`. */
export interface FetchIdempotency<Write = unknown> extends WithExecutionOf<Request, Write> {
  (request: Request, next: FetchNext<Write>): Promise<Response>;
}

/**
 * Middleware for Fetch API servers: a POST or PATCH with an `Idempotency-Key` has its effect once, and every retry gets
 * the same response. `next` gets the original request, with a body that it can read. docs/guides/servers.md has the rules.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately, and for a request whose body was already read.
 */
export function fetchIdempotency<Write = unknown>(
  options: FetchServerOptions<Request, Write>,
): FetchIdempotency<Write> {
  const { serve, isServed, isSkipped, maxRequestBytes, executionOf } = fetchAdapter(options);
  return Object.assign(idempotentFetchHandler, { executionOf });

  async function idempotentFetchHandler(request: Request, next: FetchNext<Write>): Promise<Response> {
    if (!isServed(request.method)) return next(request, undefined);
    const readBody = () => bodyOf(request, maxRequestBytes);
    const served = servedOf(request, request, readBody);
    if (await isSkipped(served)) return next(request, undefined);
    const settled = await serve(served, async () => partsOf(await next(request, executionOf(request))));
    return responseOf(settled);
  }
}

/** The middleware, and `executionOf`: `const { commit } = once.executionOf(c)`. */
export interface HonoIdempotency<Context, Write = unknown> extends WithExecutionOf<HonoContextLike, Write> {
  (c: Context, next: () => Promise<void>): Promise<Response | undefined>;
}

/**
 * The same as `fetchIdempotency`, as Hono middleware. The handler gets its attempt from the middleware's
 * `executionOf(c)`. A validator may read the body first.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately, and for a request whose body was already read, unless Hono
 * kept it.
 */
export function honoIdempotency<Context extends HonoContextLike = HonoContext, Write = unknown>(
  options: FetchServerOptions<Context, Write>,
): HonoIdempotency<Decided<Context>, Write> {
  const { serve, isServed, isSkipped, clock, maxBytes, maxRequestBytes, executionOf } = fetchAdapter(options);
  return Object.assign(idempotentHono, { executionOf }) as HonoIdempotency<Decided<Context>, Write>;

  async function idempotentHono(c: Context, next: () => Promise<void>): Promise<Response | undefined> {
    const { raw, bodyCache } = c.req;
    if (!isServed(raw.method)) return void (await next());
    const readBody = async () => {
      if (Object.keys(bodyCache).length === 0) return bodyOf(raw, maxRequestBytes);
      // Hono would encode a form again, each time with a different boundary.
      if (Object.keys(bodyCache).every((name) => /^(formData|parsedBody)$/.test(name))) throw bodyUsed();
      return within(new Uint8Array(await c.req.arrayBuffer()), maxRequestBytes);
    };
    const served = servedOf(c, raw, readBody);
    if (await isSkipped(served)) return void (await next());
    const { outgoing } = Object(c.env) as { readonly outgoing?: ServerResponse };
    let capture: Captured | undefined;
    let running: Promise<void> | undefined;
    let isDirect = false;
    const settled = await serve(served, async () => {
      capture = outgoing && captured(outgoing, { maxBytes, showsClose: true });
      running = next();
      // A handler that writes to Node's response may go on until it's sent, as after `await pipeline(file, outgoing)`.
      isDirect = await Promise.race([
        running.then(() => c.finalized && c.res.headers.has(ALREADY_SENT)),
        ...(capture ? [capture.ended.then(() => true)] : []),
      ]);
      if (isDirect && capture) return { ...(await orGone(capture, clock)), isDirect };
      if (isDirect) return refusal("its handler responded without Hono");
      capture?.reset();
      return c.finalized ? partsOf(c.res) : refusal("its handler didn't return a Response");
    }).catch((error: unknown) => {
      capture?.reset();
      throw error;
    });
    let response: Response;
    if (outgoing && (isDirect || settled.answer.onServer?.isDirect)) {
      if (capture) capture.send(settled);
      else sendAnswer(outgoing, settled.answer);
      response = new Response(null, { headers: { [ALREADY_SENT]: "true" } });
    } else response = responseOf(settled);
    if (!running) return response;
    await running;
    // Hono merges the headers when one response replaces another.
    c.res = undefined as unknown as Response;
    c.res = response;
    return undefined;
  }
}

function servedOf<Native>(native: Native, request: Request, read: () => Promise<Uint8Array>): Served<Native> {
  const { pathname, search } = new URL(request.url);
  const { method, headers } = request;
  // If nothing needs the body, leave it as a stream for the handler.
  const readBody = (isNeeded: boolean) => (isNeeded ? read() : new Uint8Array());
  return { native, method, target: `${pathname}${search}`, headers, readBody };
}

/** Reads a copy, so that the handler can still read the request, whatever its subclass. */
async function bodyOf(request: Request, maxBytes: number): Promise<Uint8Array> {
  const { body } = request;
  if (request.bodyUsed || body?.locked) throw bodyUsed();
  if (body === null) return new Uint8Array();
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw new PayloadTooLargeError(maxBytes);
  const reading = (request.clone().body as ReadableStream<Uint8Array>).getReader();
  const read: Uint8Array[] = [];
  let bytes = 0;
  for (let part = await reading.read(); !part.done; part = await reading.read()) {
    bytes += part.value.length;
    if (bytes > maxBytes) {
      // Don't await: each cancel waits for the other.
      for (const canceling of [reading.cancel(), request.body?.cancel()]) canceling?.catch(() => {});
      throw new PayloadTooLargeError(maxBytes);
    }
    read.push(part.value);
  }
  return Buffer.concat(read);
}

function within(body: Uint8Array, maxBytes: number): Uint8Array {
  if (body.length > maxBytes) throw new PayloadTooLargeError(maxBytes);
  return body;
}

/** Copies of the platform's classes are common, so check members, not classes. */
function partsOf(response: Response): AnyResponse {
  const { status, statusText, headers, body, bodyUsed: isUsed } = Object(response) as Response;
  if (typeof status !== "number" || typeof Object(headers)[Symbol.iterator] !== "function")
    return refusal(`its handler returned ${kindOf(response)} instead of a Response`);
  if (status === 0) return refusal("it is `Response.error()`");
  if (isUsed || body?.locked) return refusal("its body has already been read");
  return { status, message: statusText, headers, body: body as AnyResponse["body"] };
}

function refusal(why: string): AnyResponse {
  return { status: 500, headers: [], body: null, refusal: why };
}

function responseOf({ answer, own }: Settled): Response {
  const { headers, message, body } = parts(answer);
  const { statusCode: status } = answer;
  const ownHeaders = () => {
    const sent = new Headers([...(own?.headers ?? [])] as [string, string][]);
    for (const [name, value] of own?.added ?? []) sent.set(name, value);
    // The body has a length now.
    sent.delete("transfer-encoding");
    return sent;
  };
  const bytes = own?.body ?? Buffer.from(body);
  // Bytes, because a string would get a content type.
  return new Response(bytes.length === 0 || isBodiless(status) ? null : new Uint8Array(bytes), {
    status,
    statusText: own?.message ?? message ?? "",
    headers: own ? ownHeaders() : (headers as [string, string][]),
  });
}

function bodyUsed(): InvalidOptionError {
  return new InvalidOptionError(
    "fingerprint",
    "needs the raw bytes of the body, but it has already been read: use onceonly before the middleware that reads it, or set `fingerprint`",
    undefined,
  );
}

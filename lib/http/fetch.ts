/** The face for servers of the Fetch API, and for Hono. */
import type { ServerResponse } from "node:http";
import { InvalidOptionError, PayloadTooLargeError } from "../core/errors.ts";
import type { Execution } from "../core/execution.ts";
import { kindOf } from "../core/kind-of.ts";
import { captured } from "./captured.ts";
import { executionOf } from "./current.ts";
import { checkedBytes, type FetchServerOptions } from "./options.ts";
import { type Served, type ServerFace, type Settled, serverFace } from "./serve.ts";
import { type AnyResponse, isBodiless, parts } from "./storable.ts";

/** Answers a request. `execution` is absent for a method that is not in `methods`. */
export type FetchNext<Write> = (
  request: Request,
  execution: Execution<Write> | undefined,
) => Response | Promise<Response>;

const DEFAULT_MAX_REQUEST_BYTES = 1_048_576;

function fetchFace<Native extends object, Write>({
  maxRequestBytes = DEFAULT_MAX_REQUEST_BYTES,
  ...options
}: FetchServerOptions<Native, Write>): ServerFace<Native> & { readonly maxRequestBytes: number } {
  checkedBytes("maxRequestBytes", maxRequestBytes);
  return { ...serverFace<Native, Write>(options), maxRequestBytes };
}

/**
 * Middleware for servers of the Fetch API: a POST or PATCH with an `Idempotency-Key` has its effect once, and every retry gets the
 * same answer. `next` gets the request that was given, with a body that it can read. docs/use/servers.md has the rules.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) at once, and for a request whose body was read before.
 */
export function fetchIdempotency<Write = unknown>(
  options: FetchServerOptions<Request, Write>,
): (request: Request, next: FetchNext<Write>) => Promise<Response> {
  const { serve, isServed, maxRequestBytes } = fetchFace(options);
  return async function idempotentFetchHandler(request, next) {
    if (!isServed(request.method)) return next(request, undefined);
    const readBody = () => bodyOf(request, maxRequestBytes);
    const settled = await serve(servedOf(request, request, readBody), async () =>
      partsOf(await next(request, executionOf<Write>(request))),
    );
    return responseOf(settled);
  };
}

/** What this middleware uses of the context of Hono 4. */
export interface HonoContextLike {
  readonly req: {
    readonly raw: Request;
    readonly bodyCache: object;
    arrayBuffer(): Promise<ArrayBuffer>;
  };
  /** On Node, the response that a handler may write to itself. */
  readonly env: unknown;
  readonly finalized: boolean;
  res: Response;
}

/**
 * The same as middleware of Hono. The handler gets its attempt by `executionOf(c)`. A body that a validator has read before
 * is known all the same.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) at once, and for a request whose body was read before, if Hono hasn't kept it.
 */
export function honoIdempotency<Context extends HonoContextLike = HonoContextLike, Write = unknown>(
  options: FetchServerOptions<Context, Write>,
): (c: Context, next: () => Promise<void>) => Promise<Response | undefined> {
  const { serve, isServed, maxBytes, maxRequestBytes } = fetchFace(options);
  return async function idempotentHono(c, next) {
    const { raw, bodyCache } = c.req;
    if (!isServed(raw.method)) return void (await next());
    const readBody = async () => {
      if (Object.keys(bodyCache).length === 0) return bodyOf(raw, maxRequestBytes);
      // Hono would encode a form again, with another boundary each time.
      if (Object.keys(bodyCache).every((name) => /^(formData|parsedBody)$/.test(name))) throw bodyUsed();
      return within(new Uint8Array(await c.req.arrayBuffer()), maxRequestBytes);
    };
    let hasRun = false;
    const settled = await serve(servedOf(c, raw, readBody), async () => {
      const { outgoing } = Object(c.env) as { readonly outgoing?: ServerResponse };
      const capture = outgoing && captured(outgoing, { maxBytes, showsClose: true });
      try {
        await next();
        hasRun = true;
        if (!c.finalized) return refusal("its handler returns no Response");
        if (!c.res.headers.has("x-hono-already-sent")) return partsOf(c.res);
        return (await capture?.ended) ?? refusal("its handler answers past Hono");
      } finally {
        capture?.reset();
      }
    });
    const response = responseOf(settled);
    if (!hasRun) return response;
    // Hono merges the headers of a response that replaces another one.
    c.res = undefined as unknown as Response;
    c.res = response;
    return undefined;
  };
}

function servedOf<Native>(native: Native, request: Request, read: () => Promise<Uint8Array>): Served<Native> {
  const { pathname, search } = new URL(request.url);
  const { method, headers } = request;
  // A body that nothing needs stays a stream for the handler.
  const readBody = (isNeeded: boolean) => (isNeeded ? read() : new Uint8Array());
  return { native, method, target: `${pathname}${search}`, headers, readBody };
}

/** Reads a copy, so that the handler can read the request itself, whatever subclass it is of. */
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
      // Each waits for the other.
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

/** Copies of the platform's classes are common, so that the members count, not the class. */
function partsOf(response: Response): AnyResponse {
  const { status, statusText, headers, body, bodyUsed: isUsed } = Object(response) as Response;
  if (typeof status !== "number" || typeof Object(headers)[Symbol.iterator] !== "function")
    return refusal(`its handler yields ${kindOf(response)} instead of a Response`);
  if (status === 0) return refusal("it is `Response.error()`");
  if (isUsed || body?.locked) return refusal("its body was read before");
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
  // Bytes, as a text would get a content type.
  return new Response(bytes.length === 0 || isBodiless(status) ? null : new Uint8Array(bytes), {
    status,
    statusText: own?.message ?? message ?? "",
    headers: own ? ownHeaders() : (headers as [string, string][]),
  });
}

function bodyUsed(): InvalidOptionError {
  return new InvalidOptionError(
    "fingerprint",
    "needs the bytes of the body, which was read before: use onceonly before what reads it, or give `fingerprint`",
    undefined,
  );
}

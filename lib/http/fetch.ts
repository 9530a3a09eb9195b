/** The face for servers of the Fetch API, and for Hono. */
import { InvalidOptionError } from "../core/errors.ts";
import type { Execution } from "../core/execution.ts";
import type { HttpResponse } from "../lambda/http/response.ts";
import { executionOf } from "./current.ts";
import type { ServerOptions } from "./options.ts";
import { type Served, serverFace } from "./serve.ts";
import { type AnyResponse, parts } from "./storable.ts";

/** Answers a request. `execution` is absent for a method that is not in `methods`. */
export type FetchNext<Write> = (
  request: Request,
  execution: Execution<Write> | undefined,
) => Response | Promise<Response>;

/**
 * Middleware for servers of the Fetch API: a POST or PATCH with an `Idempotency-Key` has its effect once, and every retry gets the
 * same answer. `next` gets a request whose body can be read. docs/use/servers.md has the rules.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) at once, and for a request whose body was read before.
 */
export function fetchIdempotency<Write = unknown>(
  options: ServerOptions<Request, Write>,
): (request: Request, next: FetchNext<Write>) => Promise<Response> {
  const { serve, isServed } = serverFace(options);
  return async function idempotentFetchHandler(request, next) {
    if (!isServed(request.method)) return next(request, undefined);
    if (request.bodyUsed) throw bodyUsed();
    const body = new Uint8Array(await request.arrayBuffer());
    const { signal } = request;
    const init = { method: request.method, headers: request.headers, signal };
    const again = new Request(request.url, { ...init, ...(body.length > 0 && { body }) });
    const answer = await serve(servedOf(request, request, body), async () =>
      partsOf(await next(again, executionOf<Write>(request))),
    );
    return responseOf(answer);
  };
}

/** What this middleware uses of the context of Hono 4. */
export interface HonoContextLike {
  readonly req: { readonly raw: Request; arrayBuffer(): Promise<ArrayBuffer> };
  res: Response;
}

/**
 * The same as middleware of Hono. The handler gets its attempt by `executionOf(c)`. A body that a validator has read before
 * is known all the same.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) at once.
 */
export function honoIdempotency<Context extends HonoContextLike = HonoContextLike, Write = unknown>(
  options: ServerOptions<Context, Write>,
): (c: Context, next: () => Promise<void>) => Promise<Response | undefined> {
  const { serve, isServed } = serverFace(options);
  return async function idempotentHono(c, next) {
    if (!isServed(c.req.raw.method)) return void (await next());
    const body = new Uint8Array(await c.req.arrayBuffer());
    let hasRun = false;
    const answer = await serve(servedOf(c, c.req.raw, body), async () => {
      await next();
      hasRun = true;
      return partsOf(c.res);
    });
    const response = responseOf(answer);
    if (!hasRun) return response;
    // Hono merges the headers of a response that replaces another one.
    c.res = undefined as unknown as Response;
    c.res = response;
    return undefined;
  };
}

function servedOf<Native>(native: Native, request: Request, body: Uint8Array): Served<Native> {
  const { pathname, search } = new URL(request.url);
  return { native, method: request.method, target: `${pathname}${search}`, headers: request.headers, body };
}

function partsOf(response: Response): AnyResponse {
  const { status, headers, body, bodyUsed: isUsed } = response;
  if (isUsed) throw bodyUsed();
  return { status, headers, body: body as AnyResponse["body"] };
}

function responseOf(answer: HttpResponse): Response {
  const { headers, body } = parts(answer);
  const { statusCode: status } = answer;
  const isEmpty = body.length === 0 || [204, 205, 304].includes(status);
  // Bytes, as a text would get a content type.
  return new Response(isEmpty ? null : new Uint8Array(Buffer.from(body)), {
    status,
    headers: headers as [string, string][],
  });
}

function bodyUsed(): InvalidOptionError {
  return new InvalidOptionError(
    "next",
    "must leave bodies unread: use onceonly before what reads them",
    undefined,
  );
}

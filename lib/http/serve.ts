/** Turns a server's request into an HTTP event (payload v2), so that one adapter serves both. */
import { isUtf8 } from "node:buffer";
import { type Clock, systemClock } from "../core/clock.ts";
import { hasCode } from "../core/error-code.ts";
import type { Execution } from "../core/execution.ts";
import { httpAdapter, isSkippedBy } from "../lambda/http/adapter.ts";
import type { HttpResponse } from "../lambda/http/response.ts";
import type { HttpIdempotencyOptions, HttpRequestEvent, RequestKey } from "../lambda/options.ts";
import { Beside } from "./beside.ts";
import { carried, carry, Executions } from "./current.ts";
import { checkedBytes, type ServerOptions } from "./options.ts";
import { type AnyResponse, type ReadResponse, readResponse, toStorable } from "./storable.ts";

/** The fields that all servers provide. */
export interface Served<Native> {
  readonly native: Native;
  readonly method: string;
  /** Path and query, as sent. */
  readonly target: string;
  readonly headers: Iterable<readonly [name: string, value: string]>;
  /**
   * Reads the body once key and caller are known. If the fingerprint doesn't need it, bytes that aren't available may be
   * left out.
   * @throws InvalidOptionError, PayloadTooLargeError.
   */
  readonly readBody: (isNeeded: boolean) => Uint8Array | Promise<Uint8Array>;
}

/** How a request ended. */
export interface Settled {
  /** Sent to the caller: the handler's response, the recorded one, or a problem. */
  readonly answer: HttpResponse;
  /** The handler's own response, if it's the one sent, with the headers that `responseHeaders` adds. */
  readonly own:
    | (ReadResponse & { readonly added: readonly (readonly [name: string, value: string])[] })
    | undefined;
}

/**
 * Runs `handle` under the protocol.
 * @param handle resolves to the handler's response
 */
export type Serve<Native> = (request: Served<Native>, handle: () => Promise<AnyResponse>) => Promise<Settled>;

export interface ServerAdapter<Native, Write> {
  readonly serve: Serve<Native>;
  readonly clock: Clock;
  readonly maxBytes: number;
  /** Whether requests with this method need a key. Others run without a record. */
  readonly isServed: (method: string) => boolean;
  /** Whether a request runs without a record, although its method doesn't. */
  readonly isSkipped: (request: Served<Native>) => Promise<boolean>;
  /** @throws InvalidOptionError (`INVALID_OPTION`) */
  readonly executionOf: (request: object) => Execution<Write>;
}

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function serverAdapter<Native extends object, Write>(
  options: ServerOptions<Native, Write>,
): ServerAdapter<Native, Write> {
  const { maxResponseBytes, scope, key, fingerprint, responseHeaders, skip, ...given } = options;
  const maxBytes = checkedBytes("maxResponseBytes", maxResponseBytes ?? 1_000_000);
  const natives = new Beside<Native>(Symbol("onceonly.request"));
  const executions = new Executions<Write>();
  /** By event, why the body couldn't be read for a key that needs it; by request, for a `skip` that does. */
  const unread = new WeakMap<object, unknown>();
  const native = (event: object) => natives.get(event) as Native;
  const reading = <T>(read: ((request: Native) => T) | undefined) =>
    typeof read === "function" ? (event: object) => read(native(event)) : read;
  const adapter = httpAdapter<HttpRequestEvent, Write>({
    ...given,
    // A server has no deadline that would end a lease in time.
    ...(options.mode !== "optimistic" && { renewLease: options.renewLease ?? true }),
    ...("scope" in options && { scope: reading(scope as (request: Native) => string | undefined) }),
    ...(key !== undefined && { key: isOfEvent(key) ? withBody(key as RequestKey, unread) : reading(key) }),
    ...(fingerprint !== undefined && {
      fingerprint: isOfEvent(fingerprint) ? fingerprint : reading(fingerprint),
    }),
    ...(responseHeaders !== undefined && {
      responseHeaders: reading(responseHeaders as (request: Native) => Readonly<Record<string, string>>),
    }),
  } as HttpIdempotencyOptions<HttpRequestEvent, Write>);
  const methods = options.methods ?? ["POST", "PATCH"];
  return {
    clock: options.clock ?? systemClock,
    maxBytes,
    executionOf: executions.of,
    async isSkipped(request) {
      if (!skip) return false;
      const event = eventOf(request);
      let isRead = false;
      const failure = await fill(event, request, true).then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
      if (failure) {
        // A `skip` that doesn't read the body doesn't need it.
        Object.defineProperty(event, "body", {
          get() {
            isRead = true;
            throw failure.error;
          },
        });
      }
      // Part of a body that is too large may have been read, so no handler can read it any more.
      const isTooLarge = hasCode(failure?.error, "PAYLOAD_TOO_LARGE");
      try {
        return isSkippedBy(skip, event) && !isTooLarge;
      } catch (error) {
        if (!isRead) throw error;
        return false;
      } finally {
        // The call itself reports what is wrong with the body.
        if (failure && (isRead || isTooLarge)) unread.set(request, failure.error);
      }
    },
    isServed: (method) => methods.includes(method.toUpperCase()),
    async serve(request, handle) {
      const event = eventOf(request);
      natives.set(event, request.native);
      const isKeyOfEvent = isOfEvent(key);
      // With two middlewares on one route, the inner one needs the outer one's attempt.
      const fillLate = async (isNeeded = fingerprint === undefined || isOfEvent(fingerprint)) => {
        if (unread.has(request)) throw unread.get(request);
        await fill(event, request, isNeeded);
      };
      if (isKeyOfEvent) await fillLate(true).catch((error: unknown) => unread.set(event, error));
      const run = adapter(
        event,
        { idempotency: carried(request.native) },
        isKeyOfEvent ? undefined : fillLate,
      );
      let read: ReadResponse | undefined;
      let stored: HttpResponse | undefined;
      const work = async (execution: Execution<Write>) => {
        carry(request.native, execution as Execution);
        executions.add(request.native, execution);
        const answer = await handle();
        try {
          read = await readResponse(answer, maxBytes);
          stored = toStorable(read, maxBytes);
          return stored;
        } catch (error) {
          return whenStored(error);
        }
      };
      // Methods without a record don't get here.
      const answer = (await (run as Extract<typeof run, (...given: never[]) => unknown>)(
        work,
      )) as HttpResponse;
      // Cookies are never stored, so the same list can only come from this call's handler.
      if (!(read && stored && answer.cookies === stored.cookies)) return { answer, own: undefined };
      const { headers } = stored;
      const added = Object.entries(answer.headers ?? {}).filter(([name, value]) => headers?.[name] !== value);
      return { answer, own: { ...read, added: added as [string, string][] } };
    },
  };
}

async function fill(
  event: { body: string; isBase64Encoded: boolean },
  request: Served<object>,
  isNeeded: boolean,
): Promise<void> {
  const { buffer, byteOffset, byteLength } = await request.readBody(isNeeded);
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  event.isBase64Encoded = !isUtf8(bytes);
  event.body = bytes.toString(event.isBase64Encoded ? "base64" : "utf8");
}

/** Whether a reader gets the request in the form of a Lambda event, with its body. */
function isOfEvent<Reader>(reader: Reader): reader is Reader & { readonly isOfEvent: true } {
  return typeof reader === "function" && "isOfEvent" in reader;
}

/** Throws, in the place of the key's own errors, the error of a body that couldn't be read. */
function withBody(key: RequestKey, unread: WeakMap<object, unknown>): RequestKey {
  const readKey = (event: object) => {
    if (unread.has(event)) throw unread.get(event);
    return key(event);
  };
  return Object.assign(readKey as () => string | undefined, {
    isOfEvent: true as const,
    defaults: key.defaults,
  });
}

/**
 * The handler is done, so its response counts, and an error in it is thrown when it's stored. Thrown here, it would count
 * as the handler's own error, and a retry would run.
 */
function whenStored(error: unknown): object {
  return {
    get statusCode(): never {
      throw error;
    },
  };
}

function eventOf({ method, target, headers }: Served<object>) {
  const [rawPath = "", ...query] = target.split("?");
  // Without a prototype: a header may be called `constructor`.
  const byName: Record<string, string> = Object.create(null);
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    byName[lower] = lower in byName ? `${byName[lower]},${value}` : value;
  }
  return {
    version: "2.0",
    rawPath,
    rawQueryString: query.join("?"),
    headers: byName,
    body: "",
    isBase64Encoded: true,
    requestContext: { http: { method }, isServer: true },
  };
}

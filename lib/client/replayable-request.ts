/** A request that can be sent many times with the same bytes. Reads the body once, into memory. */
import { InvalidOptionError } from "./errors.ts";
import { KEY_HEADER, keyHeaderValue } from "./key.ts";
import { orAborted } from "./or-aborted.ts";

export interface ReplayableRequest {
  /** Carries what `init` can't: the settings of a given Request. */
  readonly request: Request;
  /**
   * Everything else, including the key's header and the body's bytes; wrappers of `fetch` find it all here.
   */
  readonly init: RequestInit;
  readonly signal: AbortSignal | undefined;
}

/**
 * @throws InvalidOptionError (`INVALID_OPTION`) if the headers carry another key. Errors of `fetch` for an
 * invalid URL, method or header, or for a body that was read before. Errors of a stream while it is read.
 */
export async function replayableRequest(
  input: string | URL | Request,
  init: RequestInit,
  key: string,
): Promise<ReplayableRequest> {
  const given = isRequest(input) ? input : undefined;
  const method = init.method ?? given?.method ?? "GET";
  const headers = new Headers(init.headers ?? given?.headers);
  if (headers.has(KEY_HEADER)) {
    throw new InvalidOptionError("headers", `must not contain ${KEY_HEADER}: pass the key as \`key\``);
  }
  const signal = (init.signal === undefined ? given?.signal : init.signal) ?? undefined;
  const { bytes, contentType } = await orAborted(readBody(given, init), signal);
  if (contentType && !headers.has("content-type")) headers.set("content-type", contentType);
  headers.set(KEY_HEADER, keyHeaderValue(key));
  // GET and HEAD must not have a body; for other methods, an empty body equals none.
  const body = bytes.byteLength === 0 && /^(GET|HEAD)$/i.test(method) ? undefined : bytes;
  // Built before the first try, because an invalid request must not look like a network error.
  const request = new Request(input, { ...init, method, headers, body, signal: null });
  return {
    request,
    init: { ...init, method, headers: Object.fromEntries(request.headers), body },
    signal,
  };
}

/**
 * Response handles every kind of body in every browser, and fixes FormData's boundary. A Blob is read too, because its
 * file may change between two tries.
 */
async function readBody(
  given: Request | undefined,
  init: RequestInit,
): Promise<{ bytes: ArrayBuffer; contentType?: string | null }> {
  if (init.body == null && given) return { bytes: await given.arrayBuffer() };
  const written = new Response(init.body ?? undefined);
  return { bytes: await written.arrayBuffer(), contentType: written.headers.get("content-type") };
}

/** `instanceof` would miss a Request from another realm (an iframe, a test runner's sandbox). */
function isRequest(input: string | URL | Request): input is Request {
  return typeof input === "object" && "arrayBuffer" in input;
}

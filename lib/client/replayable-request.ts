/** A request that can be sent again and again with the same bytes. Reads the body once, into memory. */
import { InvalidOptionError } from "./errors.ts";
import { KEY_HEADER, keyHeaderValue } from "./key.ts";
import { orAborted } from "./or-aborted.ts";

export interface ReplayableRequest {
  /** Carries what `init` cannot: the settings of a Request that was given. */
  readonly request: Request;
  /** Everything else, the key's header and the body's bytes included; wrappers of `fetch` find it all here. */
  readonly init: RequestInit;
  readonly signal: AbortSignal | undefined;
}

/**
 * @throws InvalidOptionError (`INVALID_OPTION`) if the headers carry a key of their own; what `fetch` would throw
 * for an invalid URL, method, header or a body that was read before; and what a stream throws while it is read
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
    throw new InvalidOptionError("headers", `must not carry ${KEY_HEADER}`, "one: give it as `key`");
  }
  const signal = (init.signal === undefined ? given?.signal : init.signal) ?? undefined;
  const { bytes, contentType } = await orAborted(readBody(given, init), signal);
  if (contentType && !headers.has("content-type")) headers.set("content-type", contentType);
  headers.set(KEY_HEADER, keyHeaderValue(key));
  // GET and HEAD may have no body; elsewhere an empty one equals none.
  const body = bytes.byteLength === 0 && /^(GET|HEAD)$/i.test(method) ? undefined : bytes;
  // Built before the first try: what is wrong with it must not look like a network error.
  const request = new Request(input, { ...init, method, headers, body, signal: null });
  return {
    request,
    init: { ...init, method, headers: Object.fromEntries(request.headers), body },
    signal,
  };
}

/**
 * Response writes every kind of body, in every browser, and FormData with its boundary fixed.
 * A Blob is read too: the file behind it may change between two tries.
 */
async function readBody(
  given: Request | undefined,
  init: RequestInit,
): Promise<{ bytes: ArrayBuffer; contentType?: string | null }> {
  if (init.body == null && given) return { bytes: await given.arrayBuffer() };
  const written = new Response(init.body ?? undefined);
  return { bytes: await written.arrayBuffer(), contentType: written.headers.get("content-type") };
}

/** Not by instanceof: a Request of another realm (an iframe, a test runner's sandbox) is one too. */
function isRequest(input: string | URL | Request): input is Request {
  return typeof input === "object" && "arrayBuffer" in input;
}

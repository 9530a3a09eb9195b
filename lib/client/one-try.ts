/** Sends one try and waits for its whole response. */
import type { LastTry } from "./errors.ts";
import type { RetrySettings } from "./options.ts";
import { orAborted } from "./or-aborted.ts";
import type { ReplayableRequest } from "./replayable-request.ts";
import type { ClientRuntime } from "./runtime.ts";

/** Compare names of the fetch standard's network errors: tests and iframes have other classes. */
const NETWORK_ERRORS = ["TypeError", "NetworkError", "AbortError", "TimeoutError"];

/**
 * Returns a response whose body has arrived, or the network error or timeout instead. Throws the signal's
 * reason when the caller aborts, and any error that is not the network's.
 */
export async function sendOneTry(
  runtime: ClientRuntime,
  { fetch = globalThis.fetch }: RetrySettings,
  { request, init, signal }: ReplayableRequest,
  timeoutMs: number,
): Promise<LastTry> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const stopTimer = runtime.startTimer(timeoutMs, () =>
    controller.abort(new DOMException(`no response within ${timeoutMs} ms`, "TimeoutError")),
  );
  try {
    const answer = fetchWholeAnswer(fetch, request, { ...init, signal: controller.signal });
    return { response: await orAborted(orAborted(answer, controller.signal), signal) };
  } catch (error) {
    controller.abort();
    signal?.throwIfAborted();
    if (NETWORK_ERRORS.includes((error as Error | undefined)?.name ?? "")) return { error };
    throw error;
  } finally {
    stopTimer();
  }
}

/** A response that loses its body on the way counts as lost: only a retry can get it back. */
async function fetchWholeAnswer(
  fetch: NonNullable<RetrySettings["fetch"]>,
  request: Request,
  init: RequestInit,
): Promise<Response> {
  const response = await fetch(request, init);
  await response.clone().arrayBuffer();
  return response;
}

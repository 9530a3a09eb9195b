/** The retry loop: one operation from its key to its final response. */
import { IdempotentFetchDeadlineError, type LastTry } from "./errors.ts";
import { checkKey, makeKey } from "./key.ts";
import { sendOneTry } from "./one-try.ts";
import { type IdempotentFetchInit, type RetrySettings, readCall } from "./options.ts";
import { orAborted } from "./or-aborted.ts";
import { replayableRequest } from "./replayable-request.ts";
import { isRetried, readRetryAfter, waitBeforeRetry } from "./retry-policy.ts";
import type { ClientRuntime } from "./runtime.ts";

export async function sendUntilAnswered(
  runtime: ClientRuntime,
  shared: RetrySettings,
  input: string | URL | Request,
  init: IdempotentFetchInit,
): Promise<Response> {
  const { key = makeKey(runtime), onKey, settings, fetchInit } = readCall(init, shared);
  checkKey(key);
  const request = await replayableRequest(input, fetchInit, key);
  // The caller stores the key before the operation can happen.
  if (onKey) await orAborted(Promise.resolve(onKey(key)), request.signal);

  const deadline = runtime.now() + settings.deadlineSeconds * 1000;
  let last: LastTry = {};
  let retryAfterMs: number | undefined;
  let tries = 0;
  for (let waitMs = 0; runtime.now() + waitMs < deadline; ) {
    if (tries > 0) await runtime.sleep(waitMs, request.signal);
    const leftMs = deadline - runtime.now();
    if (leftMs <= 0) break;
    last = await sendOneTry(runtime, settings, request, Math.min(leftMs, settings.tryTimeoutSeconds * 1000));
    tries++;
    retryAfterMs = last.response && readRetryAfter(last.response, runtime.now());
    if (last.response && !isRetried(last.response, retryAfterMs)) return last.response;
    waitMs = waitBeforeRetry(tries, retryAfterMs, settings, runtime.random());
  }
  throw new IdempotentFetchDeadlineError(key, tries, last, retryAfterMs);
}

/** Gives work a time of its own: a request without an answer must not take that of the whole invocation. */
import type { Clock } from "../core/clock.ts";

/** Its name is the code of the messages concerned. */
class TimeoutError extends Error {
  override readonly name = "TimeoutError";
}

/**
 * As `work`; after `ms` rejects with a TimeoutError and aborts the signal of what goes on.
 */
export async function withinTime<T>(
  ms: number | undefined,
  clock: Clock,
  work: (signal?: AbortSignal) => Promise<T>,
): Promise<T> {
  if (ms === undefined) return work();
  const late = new AbortController();
  const done = new AbortController();
  const timeout = clock.sleep(ms, done.signal).then((): never | Promise<never> => {
    if (done.signal.aborted) return new Promise<never>(() => {});
    const error = new TimeoutError(`no answer within ${Math.round(ms)} ms`);
    late.abort(error);
    throw error;
  });
  try {
    return await Promise.race([work(late.signal), timeout]);
  } finally {
    done.abort();
  }
}

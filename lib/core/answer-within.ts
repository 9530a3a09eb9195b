/** Waits for an answer for a limited time. */
import type { Clock } from "./clock.ts";

/**
 * Settles as `asking` does, or rejects with the result of `late` if that takes longer than `ms`. The request itself goes on,
 * unless `late` aborts it.
 */
export async function answerWithin<T>(
  clock: Pick<Clock, "sleep">,
  ms: number,
  asking: Promise<T>,
  late: () => Error,
  background?: "background",
): Promise<T> {
  const over = new AbortController();
  const giveUp = clock.sleep(ms, over.signal, background).then((): Promise<T> => {
    if (over.signal.aborted) return asking;
    throw late();
  });
  try {
    return await Promise.race([asking, giveUp]);
  } finally {
    over.abort("over");
  }
}

/**
 * The same for a request that can be aborted, by `signal` too. It ends then even if the client ignores its signal, as some do
 * once an answer has begun.
 * @param signal the caller's signal, if any
 */
export async function askWithin<T>(
  clock: Pick<Clock, "sleep">,
  ms: number,
  ask: (signal: AbortSignal) => Promise<T>,
  late: () => Error,
  signal?: AbortSignal,
): Promise<T> {
  const over = new AbortController();
  const onAbort = () => over.abort(signal?.reason);
  const aborted = new Promise<never>((_, reject) => {
    over.signal.addEventListener("abort", () => reject(over.signal.reason));
  });
  aborted.catch(() => {});
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort);
  try {
    return await answerWithin(clock, ms, Promise.race([ask(over.signal), aborted]), () => {
      const error = late();
      over.abort(error);
      return error;
    });
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}

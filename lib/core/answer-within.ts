/** Waits for an answer for a limited time. */
import { type Clock, startTimer } from "./clock.ts";

/**
 * Settles as `asking` does, or rejects with the result of `late` if that takes longer than `ms`. The request itself goes on,
 * unless `late` aborts it.
 */
export function answerWithin<T>(
  clock: Pick<Clock, "sleep">,
  ms: number,
  asking: Promise<T>,
  late: () => Error,
  background?: "background",
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = startTimer(clock, ms, () => reject(late()), background);
    Promise.resolve(asking).then(
      (answer) => {
        cancel();
        resolve(answer);
      },
      (error: unknown) => {
        cancel();
        reject(error);
      },
    );
  });
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

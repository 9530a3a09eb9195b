/** An answer that is waited for only so long. */
import type { Clock } from "./clock.ts";

/**
 * Settles as `asking` does, or rejects with what `late` returns if that takes longer than `ms`. What was asked goes on, unless
 * `late` aborts it.
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

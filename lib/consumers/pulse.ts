/** Signs of life to a broker while a message is at work. */
import type { Clock } from "../core/clock.ts";

/** Calls `beat` each `ms` until `work` ends. What `beat` throws is ignored: a message that was lost leaves its record. */
export async function withPulse<T>(
  clock: Clock,
  ms: number,
  beat: () => unknown,
  work: () => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const pulse = async () => {
    for (;;) {
      await clock.sleep(ms, over.signal, "background");
      if (over.signal.aborted) return;
      try {
        await beat();
      } catch {
        // As promised.
      }
    }
  };
  void pulse();
  try {
    return await work();
  } finally {
    over.abort("over");
  }
}

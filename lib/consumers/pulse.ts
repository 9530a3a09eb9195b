/** Sends signs of life to a broker while a message is being worked on. */
import type { Clock } from "../core/clock.ts";

/** Calls `beat` every `ms` until `work` ends. Errors from `beat` are ignored: a lost message still leaves its record. */
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
        // Errors are ignored, as documented.
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

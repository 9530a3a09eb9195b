/** Time and randomness come in through these two ports and nowhere else. */
import type { TimedContext } from "./lambda-context.ts";

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Resolves after `ms`, or as soon as `signal` aborts; never rejects. A sleep in the `background` does not keep the process
   * alive.
   */
  sleep(ms: number, signal?: AbortSignal, background?: "background"): Promise<void>;
}

export interface Random {
  /** An unguessable string of at least 122 random bits: a claim token, or a key for a caller that sent none. */
  token(): string;
  /** A number in [0, 1): jitter. */
  fraction(): number;
}

/** Longer timeouts overflow and fire at once. https://nodejs.org/api/timers.html */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal, background) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const finishSleep = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", finishSleep);
        resolve();
      };
      const timer = setTimeout(finishSleep, Math.min(ms, MAX_TIMEOUT_MS));
      if (background) timer.unref();
      signal?.addEventListener("abort", finishSleep);
    }),
};

export const systemRandom: Random = {
  token: () => crypto.randomUUID(),
  fraction: () => Math.random(),
};

/** What is left of the invocation in ms, where the context can tell. */
export function remainingMsOf(context: unknown): number | undefined {
  return (context as TimedContext | null | undefined)?.getRemainingTimeInMillis?.();
}

/** Time and randomness come in only through these two ports. */
import type { TimedContext } from "./lambda-context.ts";

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`, or as soon as `signal` aborts; never rejects. A `background` sleep does not keep the process alive. */
  sleep(ms: number, signal?: AbortSignal, background?: "background"): Promise<void>;
}

export interface Random {
  /** An unguessable string of at least 122 random bits: a claim token, or a key for a caller that sent none. */
  token(): string;
  /** A number in [0, 1), for jitter. */
  fraction(): number;
}

/** Sleeps for between half of `ms` and all of it. */
export function pause(
  { clock, random }: { readonly clock: Clock; readonly random: Random },
  ms: number,
): Promise<void> {
  return clock.sleep(Math.ceil(ms * (0.5 + random.fraction() / 2)));
}

/** Longer timeouts overflow and fire immediately. https://nodejs.org/api/timers.html */
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

/**
 * Calls `act` after `ms`, unless the returned function is called before. With the system's clock it is a plain timer: every call
 * has several, and a signal costs more than all of them.
 */
export function startTimer(
  clock: Pick<Clock, "sleep">,
  ms: number,
  act: () => void,
  background?: "background",
): () => void {
  if (clock === systemClock) {
    const timer = setTimeout(act, Math.min(ms, MAX_TIMEOUT_MS));
    if (background) timer.unref();
    return () => clearTimeout(timer);
  }
  const over = new AbortController();
  void clock.sleep(ms, over.signal, background).then(() => {
    if (!over.signal.aborted) act();
  });
  // With a reason, because otherwise each run creates a DOMException with its stack.
  return () => over.abort("over");
}

export const systemRandom: Random = {
  token: () => crypto.randomUUID(),
  fraction: () => Math.random(),
};

/** The remaining time of the invocation in ms, if the context provides it. */
export function remainingMsOf(context: unknown): number | undefined {
  return (context as TimedContext | null | undefined)?.getRemainingTimeInMillis?.();
}

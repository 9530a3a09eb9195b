/** The only source of time, timers and randomness. Tests inject their own. */
import { orAborted } from "./or-aborted.ts";

export interface ClientRuntime {
  /** Milliseconds since the epoch. */
  now(): number;
  /** A number in [0, 1): jitter. */
  random(): number;
  /** Unguessable bytes, for keys. */
  randomBytes(count: number): Uint8Array;
  /** Resolves after `ms`, or rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>;
  /** Calls `onEnd` after `ms`, unless the returned function is called first. */
  startTimer(ms: number, onEnd: () => void): () => void;
}

export const systemRuntime: ClientRuntime = {
  now: () => Date.now(),
  random: () => Math.random(),
  // Not crypto.randomUUID: it creates version 4, and browsers offer it on https pages only.
  randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
  sleep: (ms, signal) => {
    let stopTimer = () => {};
    const ended = new Promise<void>((resolve) => {
      stopTimer = systemRuntime.startTimer(ms, resolve);
    });
    return orAborted(ended, signal).finally(stopTimer);
  },
  startTimer: (ms, onEnd) => {
    const timer = setTimeout(onEnd, ms);
    return () => clearTimeout(timer);
  },
};

// Waits for what no event announces.
import { setTimeout as sleep } from "node:timers/promises";

const LOOK_EVERY_MS = 50;

/** Looks again and again until it is so. @returns whether it was within the time. @throws the signal's reason */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  { seconds, signal }: { readonly seconds: number; readonly signal: AbortSignal },
): Promise<boolean> {
  const endMs = Date.now() + seconds * 1000;
  while (!(await isSo())) {
    if (Date.now() > endMs) return false;
    await sleep(LOOK_EVERY_MS);
    signal.throwIfAborted();
  }
  return true;
}

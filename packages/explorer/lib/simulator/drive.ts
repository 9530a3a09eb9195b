/** Advances virtual time while work goes on: one timer at a time, and only when nothing else is ready. */
import { untilQuiet } from "./real-work.ts";
import { within } from "./scene.ts";
import type { World } from "./world.ts";

const DAY_MS = 86_400_000;

/**
 * Runs `work` outside of hosts until it is settled, and returns its result.
 * @param failureOf an error in the meantime that no code waits for
 */
export async function drive<T>(
  { time, network, trace, outside }: World,
  maxDays: number,
  work: () => T | Promise<T>,
  failureOf: () => { readonly error: unknown } | undefined,
): Promise<T> {
  let isSettled = false;
  const noteSettled = () => {
    isSettled = true;
  };
  const latest = time.now() + maxDays * DAY_MS;
  const result = within(outside, async () => work());
  result.then(noteSettled, noteSettled);
  await untilQuiet();
  while (!isSettled) {
    if (!network.dispatch() && !time.fireNext(latest)) {
      const why =
        time.sleepers === 0
          ? "is waiting for something other than the clock"
          : `isn't done after ${maxDays} simulated days`;
      throw new Error(`the work ${why}; the last events:\n${trace.text().slice(-2000)}`);
    }
    await untilQuiet();
    const failure = failureOf();
    if (failure) throw failure.error;
  }
  const answer = await result;
  const failure = failureOf();
  if (failure) throw failure.error;
  return answer;
}

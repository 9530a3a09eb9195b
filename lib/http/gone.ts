/** Handles callers that disconnect, and handlers that then never respond. */
import type { Clock } from "../core/clock.ts";
import { Interrupted } from "../core/running.ts";

/** How long a handler may go on after its caller disconnects. Its response is recorded, and a retry gets it. */
const GOES_ON_MS = 60_000;

/**
 * Resolves as `ended`. Rejects if the caller has `gone` and no response comes within a minute. The claim is then left to
 * its lease, because the handler may still be running.
 */
export async function orGone<T>(
  { ended, gone }: { readonly ended: Promise<T>; readonly gone: Promise<void> },
  clock: Clock,
): Promise<T> {
  const over = new AbortController();
  const left = gone.then(async () => {
    if (over.signal.aborted) return ended;
    await clock.sleep(GOES_ON_MS, over.signal);
    throw new Interrupted(new Error("the caller disconnected before the handler responded"));
  });
  left.catch(() => {});
  try {
    return await Promise.race([ended, left]);
  } finally {
    over.abort("over");
  }
}

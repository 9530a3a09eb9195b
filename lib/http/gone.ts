/** Callers that have gone, and handlers that then never answer. */
import type { Clock } from "../core/clock.ts";
import { Interrupted } from "../core/running.ts";

/** How long a handler may go on after its caller has gone. Its answer is recorded, and a retry gets it. */
const GOES_ON_MS = 60_000;

/**
 * Resolves as `ended`. It rejects if the caller has `gone`, and no answer comes within a minute. The claim is then left to
 * its lease, since the handler may still be running.
 */
export async function orGone<T>(
  { ended, gone }: { readonly ended: Promise<T>; readonly gone: Promise<void> },
  clock: Clock,
): Promise<T> {
  const over = new AbortController();
  const left = gone.then(async () => {
    if (over.signal.aborted) return ended;
    await clock.sleep(GOES_ON_MS, over.signal);
    throw new Interrupted(new Error("the caller has gone, and the handler has not answered"));
  });
  left.catch(() => {});
  try {
    return await Promise.race([ended, left]);
  } finally {
    over.abort("over");
  }
}

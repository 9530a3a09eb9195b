/** Handles callers that disconnect, and handlers that then never respond. */
import { type Clock, startTimer } from "../core/clock.ts";
import { Interrupted } from "../core/running.ts";

/** How long a handler may go on after its caller disconnects. Its response is recorded, and a retry gets it. */
const GOES_ON_MS = 60_000;

/**
 * Resolves as `ended`. Rejects if the caller has `gone` and no response comes within a minute. The claim is then left to
 * its lease, because the handler may still be running.
 */
export function orGone<T>(
  { ended, gone }: { readonly ended: Promise<T>; readonly gone: Promise<void> },
  clock: Clock,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    let cancel = () => {};
    const left = () =>
      reject(new Interrupted(new Error("the caller disconnected before the handler responded")));
    void gone.then(() => {
      if (!isOver) cancel = startTimer(clock, GOES_ON_MS, left);
    });
    const end = () => {
      isOver = true;
      cancel();
    };
    void ended.then(resolve, reject).then(end);
  });
}

/** Callers that have gone, and handlers that then never answer. */
import type { ServerResponse } from "node:http";
import type { Clock } from "../core/clock.ts";
import { Interrupted } from "../core/running.ts";

/** How long a handler may go on after its caller has gone. Its answer is recorded, and a retry gets it. */
const GOES_ON_MS = 60_000;

/**
 * Resolves as `answer`. It rejects if the connection is closed, and no answer comes within a minute. The claim is then left to
 * its lease, since the handler may still be running.
 */
export async function orGone<T>(
  res: Pick<ServerResponse, "once" | "off" | "destroyed">,
  answer: Promise<T>,
  clock: Clock,
): Promise<T> {
  const over = new AbortController();
  let onClose = () => {};
  const gone = new Promise<void>((resolve) => {
    onClose = resolve;
    if (res.destroyed) resolve();
    else res.once("close", onClose);
  }).then(async () => {
    await clock.sleep(GOES_ON_MS, over.signal);
    throw new Interrupted(new Error("the caller has gone, and the handler has not answered"));
  });
  gone.catch(() => {});
  try {
    return await Promise.race([answer, gone]);
  } finally {
    res.off("close", onClose);
    over.abort("over");
  }
}

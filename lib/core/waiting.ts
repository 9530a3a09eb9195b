/**
 * Waits for the holder of a live claim. Each waiting call blocks its caller, and on Lambda an environment. Beyond a limit it's
 * better to refuse immediately.
 */
import { shared } from "./copies.ts";
import { isStoreFailure } from "./error-code.ts";
import type { OngoingCall } from "./ongoing-call.ts";
import { classify, type IdempotencyRecord } from "./record.ts";
import type { ResolvedOptions } from "./resolved-options.ts";

/** Per store, unless the options set another number. */
const MAX_WAITERS = 20;

/** The calls that wait for claims of one store. */
interface Waiters {
  waiting: number;
  /** Whether the store lets this environment read its records. A missing permission lasts: the next look would be refused too. */
  mayLook: boolean;
}

/** By store: an environment usually has one. */
const waitersByStore = shared("waiters", () => new WeakMap<object, Waiters>());

type Patience = Exclude<ResolvedOptions["whenInProgress"], "reject">;

/**
 * Waits until the claim is no longer live or the time is up. Resolves to the record at that time. Resolves immediately to
 * `refusedBy` if too many calls wait already, or the store refuses to be read.
 */
export async function waitForWinner<Write>(
  call: OngoingCall<Write>,
  refusedBy: IdempotencyRecord,
  { waitSeconds, maxWaiters = MAX_WAITERS }: Patience,
): Promise<IdempotencyRecord | undefined> {
  const { store } = call.options;
  const waiters = waitersByStore.get(store) ?? { waiting: 0, mayLook: true };
  waitersByStore.set(store, waiters);
  if (waiters.waiting >= maxWaiters) return refusedBy;
  waiters.waiting++;
  try {
    return await pollForWinner(call, waiters, refusedBy, waitLimit(call, waitSeconds));
  } finally {
    waiters.waiting--;
  }
}

function waitLimit<Write>(call: OngoingCall<Write>, waitSeconds: number): number {
  const { startedAt, input } = call;
  const own = startedAt + waitSeconds * 1000;
  // Without an invocation only the caller's patience ends the wait.
  const deadline = input.remainingMs === undefined ? own : call.workUntil(startedAt);
  return Math.min(own, deadline, input.waitUntil ?? own);
}

/** Uses consistent reads, which cost half of a refused claim, at random times, since many waiters began together. */
async function pollForWinner<Write>(
  call: OngoingCall<Write>,
  waiters: Waiters,
  refusedBy: IdempotencyRecord,
  until: number,
): Promise<IdempotencyRecord | undefined> {
  const { recordKey } = call.identity;
  let record: IdempotencyRecord | undefined = refusedBy;
  const mayWait = (held: IdempotencyRecord) => waiters.mayLook && isHeld(call, held, until);
  for (let pauseMs = 50; record && mayWait(record); pauseMs = Math.min(pauseMs * 2, 1000)) {
    const waitUntil = Math.min(until, record.leaseEndsAt + 1);
    const leftMs = waitUntil - call.now();
    await (pauseMs < leftMs ? call.pause(pauseMs) : call.options.clock.sleep(leftMs));
    try {
      record = await call.request((store) => store.find(recordKey, { consistent: true }));
    } catch (error) {
      const isRefused = isStoreFailure(error) && error.failure === "refused";
      // Other waiters have been refused at the same time: report it once.
      if (isStoreFailure(error) && waiters.mayLook) call.report("store-failed", error);
      if (!isRefused) throw error;
      waiters.mayLook = false;
    }
  }
  return record;
}

/** Whether another call holds a live claim, and there is time to wait. */
function isHeld<Write>(call: OngoingCall<Write>, record: IdempotencyRecord, until: number): boolean {
  return call.now() < until && classify(record, call.seek()) === "in-progress";
}

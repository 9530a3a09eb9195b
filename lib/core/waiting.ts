/**
 * Waits for the holder of a live claim. Each waiting call holds its caller, and on Lambda an environment: beyond a ceiling a
 * refusal at once is the better answer.
 */
import { shared } from "./copies.ts";
import { isStoreFailure } from "./error-code.ts";
import type { OngoingCall } from "./ongoing-call.ts";
import { type IdempotencyRecord, judge } from "./record.ts";
import type { ResolvedOptions } from "./resolved-options.ts";

/** For one store, unless the options say another number. */
const MAX_WAITERS = 20;

/** Those who wait for claims of one store. */
interface Crowd {
  waiting: number;
  /** Whether the store lets this environment read its records. A missing right lasts: the next look would be refused too. */
  mayLook: boolean;
}

/** By the store that they ask: an environment has one. */
const crowds = shared("waiters", () => new WeakMap<object, Crowd>());

type Patience = Exclude<ResolvedOptions["whenInProgress"], "reject">;

/**
 * Waits until nobody holds a live claim or the time is up. Resolves to what the record is then. Resolves at once to
 * `refusedBy` where too many wait already, or the store refuses to be read.
 */
export async function waitForWinner<Write>(
  call: OngoingCall<Write>,
  refusedBy: IdempotencyRecord,
  { waitSeconds, maxWaiters = MAX_WAITERS }: Patience,
): Promise<IdempotencyRecord | undefined> {
  const { store } = call.options;
  const crowd = crowds.get(store) ?? { waiting: 0, mayLook: true };
  crowds.set(store, crowd);
  if (crowd.waiting >= maxWaiters) return refusedBy;
  crowd.waiting++;
  try {
    return await pollForWinner(call, crowd, refusedBy, waitLimit(call, waitSeconds));
  } finally {
    crowd.waiting--;
  }
}

function waitLimit<Write>(call: OngoingCall<Write>, waitSeconds: number): number {
  const { startedAt, input } = call;
  const own = startedAt + waitSeconds * 1000;
  // Without an invocation nothing but the caller's patience ends the wait.
  const deadline = input.remainingMs === undefined ? own : call.workUntil(startedAt);
  return Math.min(own, deadline, input.waitUntil ?? own);
}

/** By consistent reads, which cost half of a refused claim; at random times, since many waiters began at once. */
async function pollForWinner<Write>(
  call: OngoingCall<Write>,
  crowd: Crowd,
  refusedBy: IdempotencyRecord,
  until: number,
): Promise<IdempotencyRecord | undefined> {
  const { recordKey } = call.identity;
  let record: IdempotencyRecord | undefined = refusedBy;
  const mayWait = (held: IdempotencyRecord) => crowd.mayLook && isHeld(call, held, until);
  for (let pauseMs = 50; record && mayWait(record); pauseMs = Math.min(pauseMs * 2, 1000)) {
    const waitUntil = Math.min(until, record.leaseEndsAt + 1);
    const leftMs = waitUntil - call.now();
    await (pauseMs < leftMs ? call.pause(pauseMs) : call.options.clock.sleep(leftMs));
    try {
      record = await call.request((store) => store.find(recordKey, { consistent: true }));
    } catch (error) {
      const isRefused = isStoreFailure(error) && error.failure === "refused";
      // Others who wait have been refused at the same time: it is told once.
      if (isStoreFailure(error) && crowd.mayLook) call.tell("store-failed", error);
      if (!isRefused) throw error;
      crowd.mayLook = false;
    }
  }
  return record;
}

/** Whether somebody holds a live claim, and there is time to wait. */
function isHeld<Write>(call: OngoingCall<Write>, record: IdempotencyRecord, until: number): boolean {
  return call.now() < until && judge(record, call.seek()) === "in-progress";
}

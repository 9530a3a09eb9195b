/**
 * Waits for whoever holds a live claim. Each waiting call holds its caller, and on Lambda an environment: beyond a ceiling a
 * refusal at once is the better answer.
 */
import type { OngoingCall } from "./ongoing-call.ts";
import type { ResolvedOptions } from "./options.ts";
import { type IdempotencyRecord, judge } from "./record.ts";

/** For one store, unless the options say another number. */
const MAX_WAITERS = 20;

/** How many calls wait, by the store that they ask: an environment has one. */
const waiters = new WeakMap<object, number>();

type Patience = Exclude<ResolvedOptions["whenInProgress"], "reject">;

/**
 * Waits until nobody holds a live claim or the time is up. Resolves to what the record is then; at once to `refusedBy`
 * where too many wait already.
 */
export async function waitForWinner<Write>(
  call: OngoingCall<Write>,
  refusedBy: IdempotencyRecord,
  { waitSeconds, maxWaiters = MAX_WAITERS }: Patience,
): Promise<IdempotencyRecord | undefined> {
  const { store } = call.options;
  const others = waiters.get(store) ?? 0;
  if (others >= maxWaiters) return refusedBy;
  waiters.set(store, others + 1);
  try {
    return await pollForWinner(call, refusedBy, waitLimit(call, waitSeconds));
  } finally {
    waiters.set(store, waiters.get(store)! - 1);
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
  refusedBy: IdempotencyRecord,
  until: number,
): Promise<IdempotencyRecord | undefined> {
  const { recordKey } = call.identity;
  let record: IdempotencyRecord | undefined = refusedBy;
  for (let pauseMs = 50; record && isHeld(call, record, until); pauseMs = Math.min(pauseMs * 2, 1000)) {
    const waitUntil = Math.min(until, record.leaseEndsAt + 1);
    await call.pause(Math.min(pauseMs, waitUntil - call.now()));
    record = await call.ask((store) => store.find(recordKey, { consistent: true }));
  }
  return record;
}

/** Whether somebody holds a live claim, and there is time to wait. */
function isHeld<Write>(call: OngoingCall<Write>, record: IdempotencyRecord, until: number): boolean {
  return call.now() < until && judge(record, call.seek()) === "in-progress";
}

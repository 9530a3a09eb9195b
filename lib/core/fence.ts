/**
 * The fence around a commit that was refused while an earlier copy of it may still be under way. A claim under a fresh token
 * breaks the copy's condition on the record, so that the handler can learn of the refusal.
 */
import { claimAt, MAX_RACES, noTimeLeft } from "./claiming.ts";
import { isRefusedCondition, isStoreFailure } from "./error-code.ts";
import { StoreUnavailableError } from "./errors.ts";
import type { Lease } from "./lease.ts";
import type { OngoingCall } from "./ongoing-call.ts";
import { type IdempotencyRecord, isClaimOf } from "./record.ts";
import type { Claim, SettleAnswer, Store } from "./store.ts";

/**
 * Resolves to the answer of a copy that was already applied, or to the record of another attempt that finished.
 * @param isApplied whether a copy was applied before the fence; called once the fence holds
 * @throws `error` if it isn't a refused condition, or if no copy of the refused commit can be applied any more.
 * StoreUnavailableError: then the outcome is unknown.
 */
export async function fenceOff<Write>(
  call: OngoingCall<Write>,
  lease: Lease<Write>,
  error: unknown,
  isApplied = () => false,
): Promise<SettleAnswer> {
  if (!isRefusedCondition(error)) throw error;
  const end = error.mayStillApply ? await fence(call, lease) : "fenced";
  if (end !== "fenced") return end;
  if (isApplied()) return { settled: true };
  error.mayStillApply = false;
  throw error;
}

/** `fenced`: no copy can be applied any more. */
type FenceEnd = "fenced" | SettleAnswer;

async function fence<Write>(call: OngoingCall<Write>, lease: Lease<Write>): Promise<FenceEnd> {
  const previous = lease.token;
  lease.token = call.newToken();
  const until = call.recordUntil(lease.since);
  try {
    return await call.retryUntil(until, async (store) => {
      for (let races = 0; races < MAX_RACES; races++) {
        // Its lease could end before it is answered, and a late copy of it could claim under the same number again.
        if (races > 0 && call.now() >= until) throw noTimeLeft();
        const end = await claimAfresh(call, lease, store, previous);
        if (end !== "raced") return end;
      }
      throw new StoreUnavailableError("conflict", undefined);
    });
  } catch (error) {
    // Also if DynamoDB refuses the request itself: the commit before it may have been applied.
    if (isStoreFailure(error)) throw new StoreUnavailableError("unreachable", error);
    throw error;
  }
}

/** One try to claim under the fresh token. `raced`: the record has changed meanwhile, so claim it in its new state. */
async function claimAfresh<Write>(
  call: OngoingCall<Write>,
  lease: Lease<Write>,
  store: Store<Write>,
  previous: string,
): Promise<FenceEnd | "raced"> {
  const { claim: held, token, seen } = lease;
  const claim = held ? { ...held, token, keepsSteps: true } : { ...claimAt(call, call.now(), seen), token };
  const answer = await store.claim(claim, held ? recordOf(held) : seen);
  if (answer.won || isClaimOf(answer.record, token)) {
    lease.claim = claim;
    return "fenced";
  }
  const { record } = answer;
  const isPrevious = isClaimOf(record, previous);
  if (record?.token === previous && !isPrevious) return { settled: true };
  return held ? refusedOver(lease, record, isPrevious) : refusedUnclaimed(lease, record, isPrevious);
}

/** The record no longer has the claim that the fence was to replace. */
function refusedOver<Write>(
  lease: Lease<Write>,
  record: IdempotencyRecord | undefined,
  isPrevious: boolean,
): SettleAnswer | "raced" {
  if (!record || !isPrevious) return { settled: false, record };
  lease.takeRecord(record);
  return "raced";
}

/** A claim under the previous token is ours, and its answers were all lost. It is replaced like any vacant record. */
function refusedUnclaimed<Write>(
  lease: Lease<Write>,
  record: IdempotencyRecord | undefined,
  isPrevious: boolean,
): FenceEnd | "raced" {
  if (!record || isPrevious || lease.isVacant(record)) {
    lease.seen = record;
    return "raced";
  }
  // Another attempt has the key, so that the copy can't be applied either; only a finished record is an answer.
  return record.state === "in-progress" ? "fenced" : { settled: false, record };
}

/** The fields of the replaced record that a store compares. */
function recordOf({ token, leaseEndsAt, expiresAt }: Claim): IdempotencyRecord {
  return { token, leaseEndsAt, expiresAt, state: "in-progress" } as IdempotencyRecord;
}

/**
 * The protocol: claim → run → complete, or run → insert. Every face of the package goes through `perform`.
 * docs/architecture.md draws the states, the lease and what a retry sees after each crash point.
 */
import { checkKeyAge, claimKey, refuseExpiredKey } from "./claiming.ts";
import { isStoreFailure } from "./error-code.ts";
import { StoreUnavailableError } from "./errors.ts";
import { type Finish, NO_EFFECTS, type Work } from "./execution.ts";
import { refuseNested } from "./nesting.ts";
import { type Call, Operation } from "./operation.ts";
import type { ResolvedOptions } from "./options.ts";
import { type IdempotencyRecord, readRefusal } from "./record.ts";
import { answerFromRecord, type Outcome } from "./refusal.ts";
import { runAttempt } from "./running.ts";
import type { Effects, Settlement } from "./store.ts";

const RELEASE_PATIENCE_MS = 1000;

/**
 * Runs `work` under the protocol and records how it ended; or answers from the record. What `work` throws is a `failure`.
 * @throws the errors of docs/errors.md, each of them about this call.
 */
export async function perform<Write>(
  options: ResolvedOptions<Write>,
  call: Call,
  work: Work<Write>,
): Promise<Outcome> {
  refuseNested(call.identity);
  const operation = new Operation(options, call);
  if (call.keyIsFresh) operation.tell("ran-unprotected");
  const performMode = options.mode === "optimistic" ? performOptimistic : performClaimed;
  try {
    return await performMode(operation, work);
  } catch (error) {
    throw operation.own(error);
  }
}

async function performClaimed<Write>(operation: Operation<Write>, work: Work<Write>): Promise<Outcome> {
  const since = await unlessStoreFails(operation, async () => {
    await checkKeyAge(operation);
    return claimKey(operation);
  });
  if (since === undefined) return performUnclaimed(operation, work, undefined);
  if (typeof since !== "number") return since;

  const settle = (state: Settlement["state"], result?: string, effects: Effects<Write> = NO_EFFECTS) => {
    const { recordKey, token, now } = operation.seek();
    const settlement = {
      recordKey,
      token,
      now,
      state,
      result,
      expiresAt: operation.expiresAt(now),
      ...effects,
    };
    // A release is a courtesy to the next retry: it does not keep the caller waiting for its error.
    const until = operation.workUntil(since);
    const patience = state === "released" ? Math.min(until, now + RELEASE_PATIENCE_MS) : until;
    return operation.insist(patience, (store) => store.settle(settlement));
  };
  if (operation.now() >= operation.workUntil(since)) {
    // The claim was so slow that its lease may be over before the work is: somebody else would run too.
    await settle("released").catch(() => {});
    throw new StoreUnavailableError("unreachable", new Error("the claim took all the time there was"));
  }
  return runAttempt(operation, { since, finish: settle, release: () => settle("released") }, work);
}

async function performOptimistic<Write>(operation: Operation<Write>, work: Work<Write>): Promise<Outcome> {
  const { lookFirst, whenKeyExpired } = operation.options;
  const record = await unlessStoreFails(operation, async () => {
    await checkKeyAge(operation);
    if (!lookFirst && whenKeyExpired === "run") return undefined;
    // A stale read only costs a run whose insertion is then refused.
    return operation.ask((store) => store.find(operation.identity.recordKey, { consistent: false }));
  });
  const refusal = record && readRefusal(record, operation.seek());
  if (record && refusal === "expired") refuseExpiredKey(operation);
  else if (record && refusal && refusal !== "claimable") return answerFromRecord(operation, record, refusal);
  return performUnclaimed(operation, work, refusal === "expired" ? record : undefined);
}

/** Runs without a claim: of two that run at once, the one whose insertion is refused gets the other's result. */
function performUnclaimed<Write>(
  operation: Operation<Write>,
  work: Work<Write>,
  expired: IdempotencyRecord | undefined,
): Promise<Outcome> {
  const since = operation.startedAt;
  let former = expired;
  const insert: Finish<Write> = (state, result, effects) => {
    const seeker = operation.seek();
    const insertion = { ...seeker, state, result, expiresAt: operation.expiresAt(seeker.now), ...effects };
    return operation.insist(operation.workUntil(since), async (store) => {
      // Who finished since we began is on record until then; later nobody can tell.
      if (operation.now() >= operation.expiresAt(since) * 1000) return { settled: false, record: undefined };
      const answer = await store.insert(insertion, former);
      if (answer.settled) return answer;
      if (answer.record && readRefusal(answer.record, seeker) === "expired") refuseExpiredKey(operation);
      else if (answer.record || !former) return answer;
      // The record that was seen is gone (TTL), or another one has expired meanwhile.
      former = answer.record;
      return store.insert(insertion, former);
    });
  };
  operation.attempt = 1;
  return runAttempt(operation, { since, finish: insert }, work);
}

/** `undefined` when the store failed in a way that passes, and the options say to run all the same. */
async function unlessStoreFails<Write, T>(
  operation: Operation<Write>,
  request: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await request();
  } catch (error) {
    // Where a record was seen, its effect may have happened. A refusal is no outage: it lasts, and each retry would run.
    const mayRun = operation.options.whenStoreFails === "run" && operation.attempt === undefined;
    if (!mayRun || !isStoreFailure(error) || error.failure === "refused") throw error;
    operation.tell("ran-unprotected", error);
    return undefined;
  }
}

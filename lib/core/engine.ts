/**
 * The protocol: claim → run → complete, or run → insert. Every face of the package goes through `perform`.
 * docs/architecture.md draws the states, the lease and what a retry sees after each crash point.
 */
import { checkKeyAge, claimKey, refuseExpiredKey } from "./claiming.ts";
import { StoreUnavailableError } from "./errors.ts";
import type { Finish, Work } from "./execution.ts";
import { refuseNested } from "./nesting.ts";
import { type Call, Operation } from "./operation.ts";
import type { ResolvedOptions } from "./options.ts";
import { type IdempotencyRecord, readRefusal } from "./record.ts";
import { answerFromRecord, type Outcome } from "./refusal.ts";
import { runAttempt } from "./running.ts";
import { persist } from "./settling.ts";
import type { Settlement } from "./store.ts";

/**
 * Runs `work` under the protocol and records how it ended; or answers from the record.
 * @throws what `work` throws, and the errors of docs/errors.md.
 */
export async function perform<Write>(
  options: ResolvedOptions<Write>,
  call: Call,
  work: Work<Write>,
): Promise<Outcome> {
  refuseNested(call.identity);
  const operation = new Operation(options, call);
  if (call.keyIsFresh) operation.tell("ran-unprotected");
  return options.mode === "optimistic" ? performOptimistic(operation, work) : performClaimed(operation, work);
}

async function performClaimed<Write>(operation: Operation<Write>, work: Work<Write>): Promise<Outcome> {
  const claimed = await unlessStoreFails(operation, async () => {
    await checkKeyAge(operation);
    return claimKey(operation);
  });
  if (claimed === undefined) return performUnclaimed(operation, work, undefined);
  if (!claimed.won) return claimed.outcome;

  const { attempt, claimedAt } = claimed;
  const { recordKey } = operation.identity;
  const until = operation.deadline(claimedAt) - operation.margin(claimedAt) / 2;
  const settle = (state: Settlement["state"], result: string | undefined, writes: readonly Write[]) => {
    const { token } = operation;
    const now = operation.options.clock.now();
    const settlement = { recordKey, token, now, state, result, writes, expiresAt: operation.expiresAt(now) };
    return persist(operation, until, (store) => store.settle(settlement));
  };
  return runAttempt(
    operation,
    { attempt, since: claimedAt, finish: settle, release: () => settle("released", undefined, []) },
    work,
  );
}

async function performOptimistic<Write>(operation: Operation<Write>, work: Work<Write>): Promise<Outcome> {
  const { lookFirst, whenKeyExpired } = operation.options;
  const found = await unlessStoreFails(operation, async () => {
    await checkKeyAge(operation);
    if (!lookFirst && whenKeyExpired === "run") return undefined;
    // A stale read only costs a run whose insertion is then refused.
    return operation.ask((store) => store.find(operation.identity.recordKey, { consistent: false }));
  });
  if (found === undefined) return performUnclaimed(operation, work, undefined);
  const refusal = readRefusal(found, operation.seeker);
  if (refusal === "expired") {
    refuseExpiredKey(operation);
    return performUnclaimed(operation, work, found);
  }
  if (refusal === "claimable" || refusal === "own") return performUnclaimed(operation, work, undefined);
  return answerFromRecord(operation, found, refusal);
}

/** Runs without a claim: of two that run at once, the one whose insertion is refused gets the other's result. */
async function performUnclaimed<Write>(
  operation: Operation<Write>,
  work: Work<Write>,
  expired: IdempotencyRecord | undefined,
): Promise<Outcome> {
  const { recordKey } = operation.identity;
  const since = operation.startedAt;
  const until = operation.deadline(since) - operation.margin(since) / 2;
  let former = expired;
  const insert: Finish<Write> = (state, result, writes) => {
    const seeker = operation.seeker;
    const insertion = {
      recordKey,
      ...seeker,
      state,
      result,
      writes,
      expiresAt: operation.expiresAt(seeker.now),
    };
    return persist(operation, until, async (store) => {
      const answer = await store.insert(insertion, former);
      if (answer.settled || answer.record === undefined) return answer;
      if (readRefusal(answer.record, seeker) !== "expired") return answer;
      refuseExpiredKey(operation);
      former = answer.record;
      return store.insert(insertion, former);
    });
  };
  return runAttempt(operation, { attempt: 1, since, finish: insert, release: undefined }, work);
}

/** `undefined` when the store failed and the options say to run all the same. */
async function unlessStoreFails<Write, T>(
  operation: Operation<Write>,
  request: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await request();
  } catch (error) {
    if (!(error instanceof StoreUnavailableError) || operation.options.whenStoreFails === "reject")
      throw error;
    operation.tell("ran-unprotected", { error });
    return undefined;
  }
}

/**
 * The protocol: claim → run → complete, or run → insert. Every face of the package goes through `perform`.
 * docs/architecture.md draws the states, the lease and what a retry sees after each crash point.
 */
import { type Claimed, checkKeyAge, claimKey, claimTookTooLong, refuseExpiredKey } from "./claiming.ts";
import { isStoreFailure } from "./error-code.ts";
import type { Work } from "./execution.ts";
import { nesting } from "./nesting.ts";
import { type Call, Operation } from "./operation.ts";
import type { ResolvedOptions } from "./options.ts";
import { type IdempotencyRecord, judge } from "./record.ts";
import { Recording } from "./recording.ts";
import { answerFromRecord, type Outcome } from "./refusal.ts";
import { runAttempt } from "./running.ts";

/**
 * Runs `work` under the protocol and records how it ended; or answers from the record. What `work` throws is a `failure`.
 * @throws the errors of docs/use/errors.md, each of them about this call.
 */
export async function perform<Write>(
  options: ResolvedOptions<Write>,
  call: Call,
  work: Work<Write>,
): Promise<Outcome> {
  nesting.refuse(call);
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
  let claimed: Claimed;
  try {
    const outcome = operation.options.lookFirst ? await answerOfLook(operation) : undefined;
    claimed = outcome ? { won: false, outcome } : await claimKey(operation);
  } catch (error) {
    passOutage(operation, error);
    return runAttempt(operation, unclaimed(operation), work);
  }
  if (!claimed.won) return claimed.outcome;
  const recording = new Recording(operation, claimed);
  if (operation.now() >= operation.workUntil(claimed.since)) {
    await recording.giveBack().catch(() => {});
    throw claimTookTooLong();
  }
  return runAttempt(operation, recording, work);
}

/** Of two that run at once, the one whose insertion is refused gets the other's result. */
async function performOptimistic<Write>(operation: Operation<Write>, work: Work<Write>): Promise<Outcome> {
  const { lookFirst, whenKeyExpired } = operation.options;
  let seen: IdempotencyRecord | undefined;
  try {
    await checkKeyAge(operation);
    if (lookFirst || whenKeyExpired === "reject") {
      // A stale read only costs a run whose insertion is then refused.
      seen = await look(operation);
    }
  } catch (error) {
    passOutage(operation, error);
  }
  const verdict = seen && judge(seen, operation.seek());
  if (verdict === "expired") refuseExpiredKey(operation);
  else if (seen && verdict && verdict !== "vacant" && verdict !== "own") {
    return answerFromRecord(operation, seen, verdict);
  }
  return runAttempt(operation, unclaimed(operation, seen), work);
}

function look<Write>(operation: Operation<Write>): Promise<IdempotencyRecord | undefined> {
  const { recordKey } = operation.identity;
  return operation.ask((store) => store.find(recordKey, { consistent: false }));
}

/** Only what cannot change any more is an answer: a claim says the rest, since a stale read may be wrong about that. */
async function answerOfLook<Write>(operation: Operation<Write>): Promise<Outcome | undefined> {
  const seen = await look(operation);
  const verdict = seen && judge(seen, operation.seek());
  if (seen && (verdict === "completed" || verdict === "failed"))
    return answerFromRecord(operation, seen, verdict);
  operation.attempt = seen?.attempt;
  return undefined;
}

function unclaimed<Write>(operation: Operation<Write>, seen?: IdempotencyRecord): Recording<Write> {
  operation.attempt = undefined;
  return new Recording(operation, { since: operation.startedAt, seen });
}

/** @throws `error`, unless the store failed in a way that passes, and the options say to run all the same. */
function passOutage<Write>(operation: Operation<Write>, error: unknown): void {
  // Where a record was seen, its effect may have happened. A refusal is no outage: it lasts, and each retry would run.
  const mayRun = operation.options.whenStoreFails === "run" && operation.attempt === undefined;
  if (!mayRun || !isStoreFailure(error) || error.failure === "refused") throw error;
  operation.tell("ran-unprotected", error);
}

/**
 * The protocol: identity → claim → run → record → outcome. Every face of the package goes through `perform`.
 * docs/architecture.md draws the states, the lease and the answers after each crash point.
 */
import { settleAbandoned } from "./abandoned.ts";
import type { Work } from "./attempt.ts";
import {
  type Admission,
  checkKeyAge,
  claimKey,
  noTimeLeft,
  refuseExpiredKey,
  type Unclaimed,
} from "./claiming.ts";
import { isStoreFailure } from "./error-code.ts";
import { RecordCorruptError } from "./errors.ts";
import { nesting } from "./nesting.ts";
import { type CallInput, OngoingCall } from "./ongoing-call.ts";
import { answerFromRecord, type Outcome } from "./outcome.ts";
import { type IdempotencyRecord, judge } from "./record.ts";
import { Recording } from "./recording.ts";
import type { ResolvedOptions } from "./resolved-options.ts";
import { runAttempt } from "./running.ts";
import { encodeEvidence } from "./verify.ts";

/**
 * Runs `work` under the protocol and records how it ended; or answers from the record. What `work` throws is a `failure`.
 * @throws the errors of docs/use/errors.md, each of them about this call.
 */
export async function perform<Write>(
  options: ResolvedOptions<Write>,
  input: CallInput,
  work: Work<Write>,
): Promise<Outcome> {
  nesting.refuse(input);
  const call = new OngoingCall(options, input);
  if (input.keyIsFresh) call.tell("ran-unprotected");
  try {
    const admission = await (options.mode === "optimistic" ? admitAfterLook(call) : admitByClaim(call));
    if (admission.kind === "answered") return admission.outcome;
    const recording = new Recording(call, admission);
    const abandoned = admission.kind === "claimed" ? admission.abandoned : undefined;
    if (admission.kind === "claimed" && call.now() >= recording.lease.startBy) {
      // A key that is given back runs again, whatever became of an abandoned attempt.
      if (!abandoned) await recording.giveBack().catch(() => {});
      throw noTimeLeft();
    }
    const settled = abandoned && (await settleAbandoned(call, recording, abandoned));
    if (settled) return settled;
    await checkSteps(call, recording);
    return await runAttempt(call, recording, work);
  } catch (error) {
    throw call.own(error);
  } finally {
    // Also of a claim that was given up, and is won afterwards.
    options.store.handlerOver?.(call.token);
  }
}

/**
 * Another deployment may have finished steps that this one has not, or has under another name.
 * @throws RecordCorruptError (`RECORD_CORRUPT`): the key is given back, or held where nobody knows how a step ended.
 */
async function checkSteps<Write>(call: OngoingCall<Write>, recording: Recording<Write>): Promise<void> {
  const { steps } = call.options;
  const other = steps && Object.keys(recording.lease.steps).find((name) => !steps.includes(name));
  if (other === undefined) return;
  const since = recording.lease.formerEndedAt;
  const attempt = call.attempt as number;
  recording.evidence = encodeEvidence({ verdict: "unknown", by: "step", at: call.now(), attempt, since });
  const ending = recording.lease.hasOpenStep ? recording.settle("held", undefined) : recording.giveBack();
  await ending.catch(() => {});
  throw new RecordCorruptError(
    `an attempt before this one wrote the step \`${other}\`, which is not in \`steps\`: finish the deployment, or name it in \`steps\``,
  );
}

async function admitByClaim<Write>(call: OngoingCall<Write>): Promise<Admission> {
  try {
    const outcome = call.options.lookFirst ? await answerOfLook(call) : undefined;
    if (outcome) return { kind: "answered", outcome };
    const keyAge = checkKeyAge(call);
    if (keyAge) await keyAge;
    return await claimKey(call);
  } catch (error) {
    passOutage(call, error);
    return runUnclaimed(call);
  }
}

/** Two calls may run at once: the call with the refused insertion gets the result of the other. */
async function admitAfterLook<Write>(call: OngoingCall<Write>): Promise<Admission> {
  const { lookFirst, whenKeyExpired } = call.options;
  let seen: IdempotencyRecord | undefined;
  try {
    await checkKeyAge(call);
    if (lookFirst || whenKeyExpired === "reject") {
      // A stale read only costs a run whose insertion is then refused.
      seen = await look(call);
    }
  } catch (error) {
    passOutage(call, error);
  }
  const verdict = seen && judge(seen, call.seek());
  if (verdict === "expired") refuseExpiredKey(call);
  else if (seen && verdict && verdict !== "vacant" && verdict !== "own") {
    return { kind: "answered", outcome: await answerFromRecord(call, seen, verdict) };
  }
  return runUnclaimed(call, seen);
}

function look<Write>(call: OngoingCall<Write>): Promise<IdempotencyRecord | undefined> {
  const { recordKey } = call.identity;
  return call.ask((store) => store.find(recordKey, { consistent: false }));
}

/** Only a finished record is an answer, since a stale read may be wrong about any other: the claim tells of those. */
async function answerOfLook<Write>(call: OngoingCall<Write>): Promise<Outcome | undefined> {
  const seen = await look(call);
  const verdict = seen && judge(seen, call.seek());
  if (seen && (verdict === "completed" || verdict === "failed")) return answerFromRecord(call, seen, verdict);
  call.attempt = seen?.attempt;
  return undefined;
}

function runUnclaimed<Write>(call: OngoingCall<Write>, seen?: IdempotencyRecord): Unclaimed {
  call.attempt = undefined;
  return { kind: "unclaimed", since: call.startedAt, seen };
}

/** @throws `error`, unless the store failed in a way that passes, and the options say to run all the same. */
function passOutage<Write>(call: OngoingCall<Write>, error: unknown): void {
  // The effect of a record that was seen may have happened. A refusal is no outage: it lasts, and each retry would run.
  const mayRun = call.options.whenStoreFails === "run" && call.attempt === undefined;
  if (!mayRun || !isStoreFailure(error) || error.failure === "refused") throw error;
  call.tell("ran-unprotected", error);
}

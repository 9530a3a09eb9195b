/**
 * The protocol: identity → claim → run → record → outcome. Every adapter of the package goes through `perform`.
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
import { classify, type IdempotencyRecord } from "./record.ts";
import { Recording } from "./recording.ts";
import type { ResolvedOptions } from "./resolved-options.ts";
import { runAttempt } from "./running.ts";
import { encodeEvidence } from "./verify.ts";

/**
 * Runs `work` under the protocol and records how it ended, or answers from the record. An error of `work` is a `failure`.
 * @throws the errors of docs/reference/errors.md, each of them about this call.
 */
export async function perform<Write>(
  options: ResolvedOptions<Write>,
  input: CallInput,
  work: Work<Write>,
): Promise<Outcome> {
  nesting.refuse(input);
  const call = new OngoingCall(options, input);
  if (input.keyIsFresh) call.report("ran-unprotected");
  try {
    const admission = await (options.mode === "optimistic" ? admitAfterLook(call) : admitByClaim(call));
    if (admission.kind === "answered") return admission.outcome;
    const recording = new Recording(call, admission);
    const abandoned = admission.kind === "claimed" ? admission.abandoned : undefined;
    if (admission.kind === "claimed" && call.now() >= recording.lease.startBy) {
      // A released key runs again, however an abandoned attempt ended, and whatever an earlier call did.
      if (!abandoned && !call.isContinued) await recording.release().catch(() => {});
      throw noTimeLeft();
    }
    const settled = abandoned && (await settleAbandoned(call, recording, abandoned));
    if (settled) return settled;
    await checkSteps(call, recording);
    return await runAttempt(call, recording, work);
  } catch (error) {
    throw call.own(error);
  } finally {
    // Also for a claim that was given up, and is won afterwards.
    options.store.handlerOver?.(call.token);
  }
}

/**
 * Another deployment may have finished steps that this one doesn't have, or has under another name.
 * @throws RecordCorruptError (`RECORD_CORRUPT`): the key is released, or held if it's unknown how a step ended.
 */
async function checkSteps<Write>(call: OngoingCall<Write>, recording: Recording<Write>): Promise<void> {
  const { steps } = call.options;
  const other = steps && Object.keys(recording.lease.steps).find((name) => !steps.includes(name));
  if (other === undefined) return;
  const since = recording.lease.formerEndedAt;
  const attempt = call.attempt as number;
  recording.evidence = encodeEvidence({ verdict: "unknown", by: "step", at: call.now(), attempt, since });
  const ending = recording.lease.hasOpenStep ? recording.settle("held", undefined) : recording.release();
  await ending.catch(() => {});
  throw new RecordCorruptError(
    `an earlier attempt wrote the step \`${other}\`, which isn't in \`steps\`: finish the deployment, or add it to \`steps\``,
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

/** Two calls may run at the same time: the call with the refused insertion gets the other's result. */
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
  const status = seen && classify(seen, call.seek());
  if (status === "expired") refuseExpiredKey(call);
  else if (seen && status && status !== "vacant" && status !== "own") {
    return { kind: "answered", outcome: await answerFromRecord(call, seen, status) };
  }
  return runUnclaimed(call, seen);
}

function look<Write>(call: OngoingCall<Write>): Promise<IdempotencyRecord | undefined> {
  const { recordKey } = call.identity;
  return call.ask((store) => store.find(recordKey, { consistent: false }));
}

/** Only a finished record is an answer, since a stale read may be wrong about any other: the claim reports those. */
async function answerOfLook<Write>(call: OngoingCall<Write>): Promise<Outcome | undefined> {
  const seen = await look(call);
  const status = seen && classify(seen, call.seek());
  if (seen && (status === "completed" || status === "failed")) return answerFromRecord(call, seen, status);
  call.attempt = seen?.attempt;
  return undefined;
}

function runUnclaimed<Write>(call: OngoingCall<Write>, seen?: IdempotencyRecord): Unclaimed {
  call.attempt = undefined;
  return { kind: "unclaimed", since: call.startedAt, seen };
}

/** @throws `error`, unless the store failed temporarily and the options say to run anyway. */
function passOutage<Write>(call: OngoingCall<Write>, error: unknown): void {
  // The effect of a record that was seen may have happened. A refusal isn't an outage: it lasts, and each retry would run.
  const mayRun = call.options.whenStoreFails === "run" && call.attempt === undefined;
  if (!mayRun || !isStoreFailure(error) || error.failure === "refused") throw error;
  call.report("ran-unprotected", error);
}

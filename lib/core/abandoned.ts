/** Handles an abandoned attempt: holds its key, or asks whether its effect happened. */
import { askVerify, type Verified } from "./ask-verify.ts";
import { deriveChildKey } from "./child-key.ts";
import { OutcomeUnknownError } from "./errors.ts";
import type { OngoingCall } from "./ongoing-call.ts";
import { answerAfterLoss, decodeResult, encodeResult, type Outcome } from "./outcome.ts";
import { endOf, type IdempotencyRecord } from "./record.ts";
import type { Recording } from "./recording.ts";
import { type AbandonedAttempt, decodeEvidence, encodeEvidence, keptOf, type Verify } from "./verify.ts";

/**
 * Decides under the claim that has replaced `former`, which fences the abandoned attempt. Resolves to the outcome if the effect
 * happened, and to `undefined` if the handler should run. If the process dies here, it leaves an abandoned claim again, and the
 * next call decides.
 * @throws OutcomeUnknownError (`OUTCOME_UNKNOWN`): the key is held from now on. StoreUnavailableError, ClaimLostError.
 */
export async function settleAbandoned<Write>(
  call: OngoingCall<Write>,
  recording: Recording<Write>,
  former: IdempotencyRecord,
): Promise<Outcome | undefined> {
  const { whenAbandoned } = call.options;
  const isAsked = typeof whenAbandoned === "function";
  const { forgetsReturned, toStored = asItIs } = call.input;
  const { outcome, evidence, text, error }: Verified = isAsked
    ? await ask(call, {
        verify: whenAbandoned,
        option: "whenAbandoned",
        about: { attempt: former.attempt, startedAt: former.createdAt, leaseEndedAt: endOf(former) },
        startBy: recording.lease.startBy,
        toStored: forgetsReturned ? undefined : toStored,
      })
    : { outcome: "unknown" };
  recording.evidence = encodeEvidence({
    ...evidence,
    verdict: outcome,
    by: isAsked ? "verify" : "hold",
    at: call.now(),
    attempt: former.attempt,
    ...keptOf(former.state, decodeEvidence(former.evidence)),
  });
  if (outcome === "did-not-happen") {
    call.report("taken-over");
    return undefined;
  }
  const answer = await recording.settle(outcome === "happened" ? "completed" : "held", text);
  if (!answer.settled) return answerAfterLoss(call, answer.record);
  if (outcome === "happened") {
    call.report("verified");
    return { replayed: true, result: decodeResult(text) };
  }
  call.report("held", error, call.now() - former.createdAt);
  throw new OutcomeUnknownError(error, error === undefined ? undefined : evidence?.answered);
}

export const asItIs = (value: unknown): unknown => value;

interface Question {
  readonly verify: Verify<never>;
  /** The option that set it. */
  readonly option: string;
  readonly about: Pick<AbandonedAttempt, "attempt" | "startedAt" | "leaseEndedAt">;
  /** The name by which the effect's child key is derived if the question names none: the step's. */
  readonly childName?: string;
  /** Epoch ms. */
  readonly startBy: number;
  /** Converts the result of a verified effect to the part that is stored; absent if nothing is stored. */
  readonly toStored: ((result: unknown) => unknown) | undefined;
}

export async function ask<Write>(
  call: OngoingCall<Write>,
  { verify, option, about, childName, startBy, toStored }: Question,
): Promise<Verified> {
  const { identity, input, options } = call;
  const { key, operation, scope } = identity;
  const previous: Omit<AbandonedAttempt<never>, "signal"> = {
    ...about,
    key,
    operation,
    scope,
    input: input.payload as never,
    fence: call.attempt as number,
    askedAt: call.now(),
    childKey: (name = childName, limits) => deriveChildKey(identity, name as string, limits),
  };
  return askVerify(verify, previous, {
    option,
    clock: options.clock,
    // The other half is for the handler, if it should run, and for recording.
    patienceMs: Math.max(0, (startBy - call.now()) / 2),
    encode: toStored && ((result) => encodeResult(toStored(result))),
  });
}

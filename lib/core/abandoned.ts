/** Decides about an attempt that was abandoned: holds its key, or asks whether its effect happened. */
import { deriveChildKey } from "./child-key.ts";
import { InvalidOptionError, OutcomeUnknownError } from "./errors.ts";
import type { OngoingCall } from "./ongoing-call.ts";
import { answerAfterLoss, decodeResult, encodeResult, type Outcome } from "./outcome.ts";
import type { IdempotencyRecord } from "./record.ts";
import type { Recording } from "./recording.ts";
import { decidedAt, encodeEvidence, HELD_RETRY_SECONDS, type Verification, type Verify } from "./verify.ts";

/** A verdict, and what is to be recorded of it. */
interface Judged extends Pick<Verification, "outcome" | "evidence"> {
  /** The encoded result of what happened. */
  readonly text?: string | undefined;
  /** Why nobody knows. */
  readonly error?: unknown;
}

/** Whether `verify` is asked about a held key now. The pause between two questions is the one that callers are told. */
export function mayAskAgain<Write>(call: OngoingCall<Write>, { evidence }: IdempotencyRecord): boolean {
  const isAsked = typeof call.options.whenAbandoned === "function";
  return isAsked && call.now() - decidedAt(evidence) >= HELD_RETRY_SECONDS * 1000;
}

/**
 * Decides under the claim that has taken `former` over, which fences the abandoned attempt. Resolves to the answer if
 * the effect happened, and to `undefined` if the handler is to run. A process that dies in here leaves an abandoned claim
 * again, and the next call decides.
 * @throws OutcomeUnknownError (`OUTCOME_UNKNOWN`): the key is held from now on. StoreUnavailableError, ClaimLostError.
 */
export async function settleAbandoned<Write>(
  call: OngoingCall<Write>,
  recording: Recording<Write>,
  former: IdempotencyRecord,
): Promise<Outcome | undefined> {
  const { whenAbandoned } = call.options;
  const isAsked = typeof whenAbandoned === "function";
  const { outcome, evidence, text, error }: Judged = isAsked
    ? await ask(call, whenAbandoned, former, recording.startBy)
    : { outcome: "unknown" };
  recording.evidence = encodeEvidence({
    ...evidence,
    verdict: outcome,
    by: isAsked ? "verify" : "hold",
    at: call.now(),
    attempt: former.attempt,
  });
  if (outcome === "did-not-happen") {
    call.tell("taken-over");
    return undefined;
  }
  const answer = await recording.settle(outcome === "happened" ? "completed" : "held", text);
  if (!answer.settled) return answerAfterLoss(call, answer.record);
  if (outcome === "happened") {
    call.tell("verified");
    return { replayed: true, result: decodeResult(text) };
  }
  call.tell("held", error, call.now() - former.createdAt);
  throw new OutcomeUnknownError(error, error === undefined ? undefined : evidence?.answered);
}

async function ask<Write>(
  call: OngoingCall<Write>,
  verify: Verify,
  former: IdempotencyRecord,
  startBy: number,
): Promise<Judged> {
  const { identity, input, options } = call;
  const { key, operation, scope } = identity;
  const asking = new AbortController();
  const over = new AbortController();
  // The other half is for the handler, if it is to run, and for what is recorded.
  const patienceMs = Math.max(0, (startBy - call.now()) / 2);
  const giveUp = async () => {
    await options.clock.sleep(patienceMs, over.signal);
    const late = Object.assign(new Error("verify did not answer in time"), { name: "TimeoutError" });
    if (!over.signal.aborted) asking.abort(late);
    throw late;
  };
  const answer = async () =>
    verify({
      key,
      operation,
      scope,
      input: input.payload,
      attempt: former.attempt,
      fence: call.attempt as number,
      startedAt: former.createdAt,
      // The lease of a held record is that of the call that held it.
      leaseEndedAt: former.state === "held" ? decidedAt(former.evidence) : former.leaseEndsAt,
      askedAt: call.now(),
      signal: asking.signal,
      childKey: (name, limits) => deriveChildKey(identity, name, limits),
    });
  try {
    return judgedOf(await Promise.race([answer(), giveUp()]), call);
  } catch (error) {
    return { outcome: "unknown", evidence: { answered: `threw ${nameOf(error)}` }, error };
  } finally {
    over.abort("over");
  }
}

/** @throws InvalidOptionError for what is no verdict, ResponseNotStorableError for a result that cannot be replayed. */
function judgedOf<Write>(answer: unknown, { input }: OngoingCall<Write>): Judged {
  const { outcome, evidence, result } = Object(answer) as Partial<Verification> & { result?: unknown };
  if (outcome !== "happened" && outcome !== "did-not-happen" && outcome !== "unknown") {
    throw new InvalidOptionError(
      "whenAbandoned",
      'must answer { outcome: "happened", result }, { outcome: "did-not-happen" } or { outcome: "unknown" }',
      answer,
    );
  }
  if (outcome !== "happened" || input.forgetsReturned) return { outcome, evidence };
  if (!("result" in Object(answer))) {
    throw new InvalidOptionError(
      "whenAbandoned",
      "must answer `happened` with the `result` that every caller gets: `undefined` where there is none",
      answer,
    );
  }
  return { outcome, evidence, text: encodeResult(input.toStored ? input.toStored(result) : result) };
}

/** An error's message may hold a payload, and its name may have been made of one. */
function nameOf(error: unknown): string {
  const { name } = Object(error) as { readonly name?: unknown };
  return typeof name === "string" && /^[\w$.]{1,64}$/.test(name) ? name : "something else";
}

/** Records the end of one attempt: under its claim, or by an insertion if it has none. */
import { answerWithin } from "./answer-within.ts";
import { errorNameOf } from "./ask-verify.ts";
import { type Claimed, MAX_RACES, noTimeLeft, refuseExpiredKey, type Unclaimed } from "./claiming.ts";
import { isRefusedCondition } from "./error-code.ts";
import { StoreUnavailableError } from "./errors.ts";
import { fenceOff } from "./fence.ts";
import { Lease } from "./lease.ts";
import type { OngoingCall } from "./ongoing-call.ts";
import { answerAfterLoss, decodeResult, NOT_KEPT, type Outcome, refusesContent } from "./outcome.ts";
import {
  type IdempotencyRecord,
  isClaimOf,
  isExpired,
  isTracked,
  type Succession,
  successionOf,
} from "./record.ts";
import type { Effects, Insertion, SettleAnswer, Settlement, Store } from "./store.ts";
import { encodeEvidence, withPast } from "./verify.ts";

const RELEASE_PATIENCE_MS = 1000;
const ASKING_PATIENCE_MS = 1000;

export const NO_EFFECTS: Effects<never> = { writes: [], messages: [] };

/** The state of the key after an attempt that records nothing. */
export interface Released {
  /** Another attempt has taken the claim. */
  readonly isLost: boolean;
  /** The record, if it belongs to another attempt. */
  readonly record?: IdempotencyRecord | undefined;
}

export class Recording<Write> {
  readonly lease: Lease<Write>;
  /** The verdict about the previous attempt; it is stored with the end of this one. */
  evidence: string | undefined;
  readonly #call: OngoingCall<Write>;

  constructor(call: OngoingCall<Write>, admission: Claimed | Unclaimed) {
    this.#call = call;
    this.lease = new Lease(call, admission);
  }

  /**
   * Writes a finished state with all of its effects, or nothing. Resolves to the answer of the record: this one, or the
   * winner's.
   */
  async conclude(
    state: "completed" | "failed",
    text: string | undefined,
    effects: Effects<Write>,
    original: unknown,
  ): Promise<Outcome> {
    const call = this.#call;
    const hasWrites = effects.writes.length > 0;
    const write = (kept: string | undefined) => {
      const request = this.lease.isClaimed
        ? this.#settlement(state, kept, effects)
        : this.#insertion(state, kept, effects);
      return call.retryUntil(call.recordUntil(this.lease.since), request, hasWrites);
    };
    let answer: SettleAnswer;
    try {
      answer = await write(text);
    } catch (error) {
      answer = await (refusesContent(error, text) ? write(NOT_KEPT) : fenceOff(call, this.lease, error));
    }
    if (!answer.settled) return answerAfterLoss(call, answer.record);
    this.lease.isOver = true;
    call.report("executed");
    return { replayed: false, result: decodeResult(text), original };
  }

  /** Records the verdict about the previous attempt. */
  async settle(state: "completed" | "held", text: string | undefined): Promise<SettleAnswer> {
    const call = this.#call;
    return call.retryUntil(call.recordUntil(this.lease.since), this.#settlement(state, text, NO_EFFECTS));
  }

  /**
   * Lets a retry run immediately after `error`, whose name is kept for operators. Without a claim there is nothing to release,
   * but another attempt may have finished.
   * @throws StoreUnavailableError
   */
  async release(error?: unknown): Promise<Released> {
    const call = this.#call;
    // The operation must still be finished, and operators see why it stopped. A verdict says more.
    if (error !== undefined && isTracked({ steps: this.lease.steps }))
      this.evidence ??= this.#stoppedBy(error);
    const until = Math.min(call.recordUntil(this.lease.since), call.now() + RELEASE_PATIENCE_MS);
    if (!this.lease.isClaimed) {
      const found = await call.retryUntil(until, () => this.#find());
      // A claim of ours may exist whose answers were all lost.
      if (!found.isOwn) return { isLost: false, record: found.record };
    }
    // A release is a courtesy to the next retry, so the caller doesn't wait long for it.
    const answer = await call.retryUntil(until, this.#settlement("released", undefined, NO_EFFECTS));
    return answer.settled ? { isLost: false } : { isLost: true, record: answer.record };
  }

  #stoppedBy(error: unknown): string {
    const at = this.#call.now();
    const attempt = this.#call.attempt as number;
    const lastError = { name: errorNameOf(error), at };
    return encodeEvidence({ verdict: "unknown", by: "handler", at, attempt, lastError });
  }

  /**
   * The current record, for an attempt that was aborted and must not release. Uses half of the remaining time, or one second if
   * no deadline ends the process or it has passed.
   */
  async look(): Promise<Released> {
    const call = this.#call;
    const msLeft = call.input.remainingMs === undefined ? 0 : call.deadline(this.lease.since) - call.now();
    const patience = msLeft > 0 ? msLeft / 2 : ASKING_PATIENCE_MS;
    const { clock } = call.options;
    const { isOwn, record } = await call.ask(() => answerWithin(clock, patience, this.#find(), noTimeLeft));
    return isOwn ? { isLost: false } : { isLost: this.lease.isClaimed, record };
  }

  async #find(): Promise<{ readonly isOwn: boolean; readonly record: IdempotencyRecord | undefined }> {
    const { options, identity } = this.#call;
    const record = await options.store.find(identity.recordKey, { consistent: true });
    return { isOwn: isClaimOf(record, this.lease.token), record };
  }

  #settlement(state: Settlement["state"], result: string | undefined, effects: Effects<Write>) {
    const call = this.#call;
    const now = call.now();
    const { claim, token, steps } = this.lease;
    const { recordKey } = call.identity;
    const { writes, messages } = effects;
    const evidence = withPast(this.evidence, this.lease.formerEvidence);
    // A held key, or one that must be finished, never expires.
    const isUnfinished = state === "released" && isTracked({ steps });
    const expiresAt = state === "held" || isUnfinished ? undefined : call.expiresAt(now);
    const isListed = claim !== undefined && claim.expiresAt === undefined && !isUnfinished;
    const hasSteps = Object.keys(steps).length > 0;
    const settlement = {
      recordKey,
      token,
      now,
      state,
      result,
      expiresAt,
      evidence,
      isListed,
      patienceMs: this.#patienceAt(now),
      dropsSteps: hasSteps && !call.options.keepSteps && (state === "completed" || state === "failed"),
      writes,
      messages,
    };
    return (store: Store<Write>) => store.settle(settlement);
  }

  /** The other half of the remaining time is for the record itself. */
  #patienceAt(now: number): number {
    return Math.max(0, (this.#call.recordUntil(this.lease.since) - now) / 2);
  }

  #insertion(state: "completed" | "failed", result: string | undefined, effects: Effects<Write>) {
    const call = this.#call;
    const endedAt = call.now();
    const { identity, fingerprint } = call;
    // Each try is the same request, including its expiry. A late copy with a later expiry could finish the key again.
    const end = {
      recordKey: identity.recordKey,
      token: this.lease.token,
      fingerprint,
      now: endedAt,
      state,
      result,
      expiresAt: call.expiresAt(endedAt),
      patienceMs: this.#patienceAt(endedAt),
      ...effects,
    };
    // Until then the record of an attempt that finished meanwhile still exists; later there's no way to know.
    const recordedUntil = call.expiresAt(this.lease.since) * 1000;
    return async (store: Store<Write>): Promise<SettleAnswer> => {
      for (let races = 0; races < MAX_RACES; races++) {
        const now = call.now();
        if (now >= recordedUntil) return { settled: false, record: undefined };
        const answer = await this.#insertOver(store, end, now, races > 0);
        if (answer !== "raced") return answer;
      }
      throw new StoreUnavailableError("conflict", undefined);
    };
  }

  /** One try to insert over `seen`. `raced`: another record is there now, and it may be replaced too. */
  async #insertOver(
    store: Store<Write>,
    end: Omit<Insertion<Write>, keyof Succession>,
    now: number,
    isRepeated: boolean,
  ): Promise<SettleAnswer | "raced"> {
    const { lease } = this;
    const { seen } = lease;
    if (seen && isExpired(seen, now)) refuseExpiredKey(this.#call);
    let answer: SettleAnswer;
    try {
      answer = await store.insert({ ...end, ...successionOf(seen, now) }, seen);
    } catch (error) {
      // The record refused an earlier try; a late copy of that try may find no record, once TTL has deleted it.
      if (isRepeated && isRefusedCondition(error)) error.mayStillApply = true;
      throw error;
    }
    if (answer.settled) return answer;
    // A refusal without a record: TTL has deleted the record that was seen.
    const mayReplace = answer.record ? lease.isVacant(answer.record) : seen !== undefined;
    if (!mayReplace) return answer;
    lease.seen = answer.record;
    return "raced";
  }
}

/** Puts the end of one attempt on record: under its claim, or by an insertion where it has none. */

import { answerWithin } from "./answer-within.ts";
import { errorNameOf } from "./ask-verify.ts";
import {
  type Claimed,
  claimAt,
  MAX_RACES,
  noTimeLeft,
  refuseExpiredKey,
  type Unclaimed,
} from "./claiming.ts";
import { isRefusedCondition, isStoreFailure } from "./error-code.ts";
import { ClaimLostError, StoreUnavailableError } from "./errors.ts";
import type { OngoingCall } from "./ongoing-call.ts";
import { answerAfterLoss, decodeResult, NOT_KEPT, type Outcome, readResult } from "./outcome.ts";
import {
  type IdempotencyRecord,
  isClaimOf,
  isExpired,
  isTracked,
  judge,
  openStepsOf,
  type StoredResult,
  type StoredStep,
  type StoredSteps,
  successionOf,
} from "./record.ts";
import type { Claim, Effects, SettleAnswer, Settlement, StepChange, Store } from "./store.ts";
import { encodeEvidence } from "./verify.ts";

const RELEASE_PATIENCE_MS = 1000;
const ASKING_PATIENCE_MS = 1000;

export const NO_EFFECTS: Effects<never> = { writes: [], messages: [] };

/** The knowledge of an attempt that records nothing. */
export interface GivenBack {
  /** Another attempt has taken the claim. */
  readonly isLost: boolean;
  /** The record, where it is another attempt's. */
  readonly record?: IdempotencyRecord | undefined;
}

/**
 * The work is done, and the database refuses its result. Then the record says that the operation is done and its result was
 * not kept: without a record the effect would be repeated once per lease.
 */
const refusesContent = (error: unknown, text: string | undefined): boolean =>
  text !== undefined && isStoreFailure(error) && error.refusesContent === true;

export class Recording<Write> {
  readonly since: number;
  /** The verdict about the attempt before this one; it is stored with the end of this one. */
  evidence: string | undefined;
  readonly #call: OngoingCall<Write>;
  /** Renewed by a fence: then no record is ours that was made before. */
  #token: string;
  #claim: Claim | undefined;
  #seen: IdempotencyRecord | undefined;
  #steps: StoredSteps = {};
  /** When the attempt before had ended, at the latest (epoch ms). */
  readonly formerEndedAt: number;
  #isConcluded = false;

  constructor(call: OngoingCall<Write>, admission: Claimed | Unclaimed) {
    this.#call = call;
    this.#token = call.token;
    this.since = admission.since;
    this.formerEndedAt = admission.kind === "claimed" ? admission.formerEndedAt : admission.since;
    if (admission.kind === "claimed") {
      this.#claim = admission.claim;
      this.#steps = admission.steps;
    } else this.#seen = admission.seen;
  }

  /** Nobody else can have run so far, as long as clocks differ by no more than the skew. */
  get isLive(): boolean {
    return this.isClaimed && this.#call.now() <= this.liveUntil;
  }

  get isClaimed(): boolean {
    return this.#claim !== undefined;
  }

  /** When the key was first claimed (epoch ms). */
  get startedAt(): number {
    return (this.#claim as Claim).createdAt;
  }

  /** When others may take over the claim (epoch ms). Nobody takes over an attempt that is concluded, or has no claim. */
  get liveUntil(): number {
    if (!this.#claim || this.#isConcluded) return Number.POSITIVE_INFINITY;
    return this.#claim.leaseEndsAt - this.#call.options.clockSkewSeconds * 1000;
  }

  /** Until then the work may begin: what is left of the time is enough for nothing else (epoch ms). */
  get startBy(): number {
    const end = this.#call.workUntil(this.since);
    return this.#call.renews ? Math.min(end, this.liveUntil) : end;
  }

  /**
   * Prolongs the claim. Resolves to whether nobody else has taken it.
   * @throws StoreUnavailableError
   */
  async renew(): Promise<boolean> {
    const call = this.#call;
    const token = this.#token;
    const { recordKey } = call.identity;
    let leaseEndsAt = call.leaseEndsAt(call.now());
    // A claim that may be held never expires.
    let expiresAt = (this.#claim as Claim).expiresAt && call.expiresAt(leaseEndsAt);
    const renewal = { recordKey, token, leaseEndsAt, expiresAt };
    const answer = await call.ask((store) => store.renew(renewal));
    if (!answer.renewed) {
      const { record } = answer;
      // Its own end, or a fence of its own, came first.
      if (!isClaimOf(record, token)) return [token, this.#token].includes(record?.token ?? "");
      ({ leaseEndsAt, expiresAt } = record as IdempotencyRecord);
    }
    const claim = this.#claim as Claim;
    // A step may have taken the expiry meanwhile: the next renewal goes without.
    this.#claim = { ...claim, leaseEndsAt, expiresAt: claim.expiresAt && expiresAt };
    return true;
  }

  /**
   * Writes a finished state with its effects: all, or nothing. Resolves to the answer of the record: this one, or the
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
      const request = this.#claim ? this.#settle(state, kept, effects) : this.#insert(state, kept, effects);
      return call.insist(call.recordUntil(this.since), request, hasWrites);
    };
    let answer: SettleAnswer;
    try {
      answer = await write(text);
    } catch (error) {
      answer = await (refusesContent(error, text) ? write(NOT_KEPT) : this.#fenceOff(error));
    }
    this.#isConcluded = answer.settled;
    if (!answer.settled) return answerAfterLoss(call, answer.record);
    call.tell("executed");
    return { replayed: false, result: decodeResult(text), original };
  }

  /** The steps on record, of this attempt and of those before it. */
  get steps(): StoredSteps {
    return this.#steps;
  }

  /** Whether nobody knows how a step ended. */
  get hasOpenStep(): boolean {
    return openStepsOf({ steps: this.#steps }).length > 0;
  }

  /**
   * Writes one step, with `writes` in the same transaction. Never two at once: both would change the same item. Resolves to the
   * text of its result, as each later attempt will get it.
   * @throws ResultNotKeptError: the step is written. ClaimLostError, StoreUnavailableError, TransactionConditionError
   */
  async writeStep(
    name: string,
    change: Pick<StepChange, "result"> & Omit<StoredStep, "result" | "attempt" | "at">,
    writes: readonly Write[],
  ): Promise<string | undefined> {
    const call = this.#call;
    const { result, ...mark } = change;
    // A time of its own for each write: a copy of an earlier one that arrives late finds another step.
    const at = Math.max(call.now(), ...Object.values(this.#steps).map((step) => step.at + 1));
    const step = { ...mark, attempt: call.attempt as number, at };
    const isThere = () => this.#steps[name]?.at === at && this.#steps[name]?.attempt === step.attempt;
    const until = call.recordUntil(this.since);
    for (let races = 0; races < MAX_RACES; races++) {
      const claim = this.#claim as Claim;
      const entry: StepChange<Write> = {
        recordKey: call.identity.recordKey,
        token: this.#token,
        name,
        step,
        result,
        resultExpiresAt: call.stepExpiresAt(claim.expiresAt === undefined || isTracked({ steps: { step } })),
        seen: this.#steps[name],
        isFirst: Object.keys(this.#steps).length === 0,
        leaseEndsAt: claim.leaseEndsAt,
        writes,
      };
      let kept = result;
      const write = () => {
        const request = (store: Store<Write>) =>
          (store as Required<Store<Write>>).writeStep({ ...entry, result: kept });
        return call.insist(until, request, writes.length > 0);
      };
      const answer = await write().catch((error: unknown) => {
        if (!refusesContent(error, result)) return this.#fenceOff(error, isThere);
        kept = NOT_KEPT;
        return write();
      });
      if (answer.settled) {
        const { lostBytes: bytes } = answer;
        const stored = bytes ? { in: "nowhere", bytes } : kept && { in: "record", text: kept };
        // The record may have told where the result is.
        if (!isThere()) this.#steps = { ...this.#steps, [name]: { ...step, result: stored as StoredResult } };
        const now = this.#claim as Claim;
        const expiresAt = isTracked({ steps: { step } }) ? undefined : claim.expiresAt;
        this.#claim = { ...now, leaseEndsAt: now.leaseEndsAt + 1, expiresAt };
        return readResult(this.#steps[name]?.result, call);
      }
      const { record } = answer;
      if (!record || !isClaimOf(record, this.#token)) throw call.own(new ClaimLostError());
      // A step whose answers were all lost is there.
      this.#steps = record.steps ?? {};
    }
    throw new StoreUnavailableError("conflict", undefined);
  }

  /** Puts on record what was found out about the attempt before this one. */
  async settle(state: "completed" | "held", text: string | undefined): Promise<SettleAnswer> {
    const call = this.#call;
    return call.insist(call.recordUntil(this.since), this.#settle(state, text, NO_EFFECTS));
  }

  /**
   * Lets a retry run at once, after `error`, of which the name is kept where somebody looks for it. Without a claim there is nothing to give back, but another attempt may have finished.
   * @throws StoreUnavailableError
   */
  async giveBack(error?: unknown): Promise<GivenBack> {
    const call = this.#call;
    // Somebody has to finish it, and sees why it stopped. A verdict says more.
    if (error !== undefined && isTracked({ steps: this.#steps })) this.evidence ??= this.#stoppedBy(error);
    const until = Math.min(call.recordUntil(this.since), call.now() + RELEASE_PATIENCE_MS);
    if (!this.#claim) {
      const found = await call.insist(until, () => this.#find());
      // A claim of ours may be there, whose answers were all lost.
      if (!found.isOwn) return { isLost: false, record: found.record };
    }
    // A release is a courtesy to the next retry: it does not keep the caller waiting for its answer.
    const answer = await call.insist(until, this.#settle("released", undefined, NO_EFFECTS));
    return answer.settled ? { isLost: false } : { isLost: true, record: answer.record };
  }

  #stoppedBy(error: unknown): string {
    const at = this.#call.now();
    const attempt = this.#call.attempt as number;
    const lastError = { name: errorNameOf(error), at };
    return encodeEvidence({ verdict: "unknown", by: "handler", at, attempt, lastError });
  }

  /**
   * The record as it is, for an attempt that was aborted and must not release. Takes half of the time that is left; where
   * nothing ends the process at its deadline, or it is over, a second.
   */
  async look(): Promise<GivenBack> {
    const call = this.#call;
    const msLeft = call.input.remainingMs === undefined ? 0 : call.deadline(this.since) - call.now();
    const patience = msLeft > 0 ? msLeft / 2 : ASKING_PATIENCE_MS;
    const { clock } = call.options;
    const { isOwn, record } = await call.ask(() => answerWithin(clock, patience, this.#find(), noTimeLeft));
    return isOwn ? { isLost: false } : { isLost: this.#claim !== undefined, record };
  }

  /** @param isApplied whether a copy was applied before the fence; asked when the fence holds */
  async #fenceOff(error: unknown, isApplied = () => false): Promise<SettleAnswer> {
    if (!isRefusedCondition(error)) throw error;
    const answer = error.mayStillApply ? await this.#fence() : undefined;
    if (answer) return answer;
    if (isApplied()) return { settled: true };
    error.mayStillApply = false;
    throw error;
  }

  /**
   * Rules out that a late copy of a refused commit is applied. A claim under a fresh token breaks the copy's condition on
   * the record. Resolves to `undefined` when that is certain. Otherwise resolves to the answer of a copy that was applied
   * already, or to the record of another attempt that finished.
   * @throws StoreUnavailableError: then nobody knows.
   */
  async #fence(): Promise<SettleAnswer | undefined> {
    const call = this.#call;
    const former = this.#token;
    this.#token = call.options.random.token();
    const until = call.recordUntil(this.since);
    try {
      return await call.insist(until, async (store) => {
        for (let races = 0; races < MAX_RACES; races++) {
          // Its lease could be over before it is answered, and a late copy of it claim under the same number again.
          if (races > 0 && call.now() >= until) throw noTimeLeft();
          const held = this.#claim;
          const claim = held
            ? { ...held, token: this.#token, keepsSteps: true }
            : { ...claimAt(call, call.now(), this.#seen), token: this.#token };
          const answer = await store.claim(claim, held ? recordOf(held) : this.#seen);
          const { record } = answer.won ? {} : answer;
          if (answer.won || isClaimOf(record, this.#token)) {
            this.#claim = claim;
            return undefined;
          }
          // A claim under the former token is one of ours whose answers were all lost: it is replaced.
          const isFormer = isClaimOf(record, former);
          if (record?.token === former && !isFormer) return { settled: true };
          if (held && record && isFormer) {
            // A renewal, or the copy of a step, came between.
            this.#claim = { ...held, leaseEndsAt: record.leaseEndsAt, expiresAt: record.expiresAt };
            this.#steps = record.steps ?? {};
            continue;
          }
          if (held || (record && !isFormer && !this.#isVacant(record))) return this.#heldBy(record);
          this.#seen = record;
        }
        throw new StoreUnavailableError("conflict", undefined);
      });
    } catch (error) {
      // Also where DynamoDB refuses the request itself: the commit before it may have been applied.
      if (isStoreFailure(error)) throw new StoreUnavailableError("unreachable", error);
      throw error;
    }
  }

  /** Where somebody else has the key the copy cannot be applied either; only a finished record is an answer. */
  #heldBy(record: IdempotencyRecord | undefined): SettleAnswer | undefined {
    if (!this.#claim && record?.state === "in-progress") return undefined;
    return { settled: false, record };
  }

  async #find(): Promise<{ readonly isOwn: boolean; readonly record: IdempotencyRecord | undefined }> {
    const { options, identity } = this.#call;
    const record = await options.store.find(identity.recordKey, { consistent: true });
    return { isOwn: isClaimOf(record, this.#token), record };
  }

  #settle(state: Settlement["state"], result: string | undefined, effects: Effects<Write>) {
    const call = this.#call;
    const now = call.now();
    const token = this.#token;
    const { recordKey } = call.identity;
    const { writes, messages } = effects;
    const { evidence } = this;
    // Nobody forgets a held key, or one that is to be finished.
    const isUnfinished = state === "released" && isTracked({ steps: this.#steps });
    const expiresAt = state === "held" || isUnfinished ? undefined : call.expiresAt(now);
    const isListed = this.#claim !== undefined && this.#claim.expiresAt === undefined && !isUnfinished;
    const hasSteps = Object.keys(this.#steps).length > 0;
    const settlement = {
      recordKey,
      token,
      now,
      state,
      result,
      expiresAt,
      evidence,
      isListed,
      dropsSteps: hasSteps && (state === "completed" || state === "failed"),
      writes,
      messages,
    };
    return (store: Store<Write>) => store.settle(settlement);
  }

  #insert(state: "completed" | "failed", result: string | undefined, effects: Effects<Write>) {
    const call = this.#call;
    const endedAt = call.now();
    const { identity, fingerprint } = call;
    // Each try is the same request, its expiry too. A late copy that expires later than what it repeats could finish the key again.
    const end = {
      recordKey: identity.recordKey,
      token: this.#token,
      fingerprint,
      now: endedAt,
      state,
      result,
      expiresAt: call.expiresAt(endedAt),
      ...effects,
    };
    // Until then the record of an attempt that finished meanwhile is still there; later nobody can tell.
    const recordedUntil = call.expiresAt(this.since) * 1000;
    return async (store: Store<Write>): Promise<SettleAnswer> => {
      for (let races = 0; races < MAX_RACES; races++) {
        const now = call.now();
        if (now >= recordedUntil) return { settled: false, record: undefined };
        const seen = this.#seen;
        if (seen && isExpired(seen, now)) refuseExpiredKey(call);
        const answer = await store
          .insert({ ...end, ...successionOf(seen, now) }, seen)
          .catch((error: unknown) => {
            // A try before this one was refused by the record; a copy of it may find none, once TTL has deleted that.
            if (races > 0 && isRefusedCondition(error)) error.mayStillApply = true;
            throw error;
          });
        // A refusal without a record: TTL has deleted the record that was seen.
        if (answer.settled || (answer.record ? !this.#isVacant(answer.record) : !seen)) return answer;
        this.#seen = answer.record;
      }
      throw new StoreUnavailableError("conflict", undefined);
    };
  }

  #isVacant(record: IdempotencyRecord): boolean {
    const verdict = judge(record, this.#call.seek(this.#token));
    return verdict === "vacant" || verdict === "expired";
  }
}

/** What a store compares of the record that is replaced. */
function recordOf({ token, leaseEndsAt, expiresAt }: Claim): IdempotencyRecord {
  return { token, leaseEndsAt, expiresAt, state: "in-progress" } as IdempotencyRecord;
}

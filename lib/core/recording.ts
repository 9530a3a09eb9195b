/** How the end of one attempt gets on record: under its claim, or by an insertion where it has none. */
import { claimAt, claimTookTooLong, MAX_RACES, refuseExpiredKey } from "./claiming.ts";
import { isRefusedCondition, isStoreFailure } from "./error-code.ts";
import { StoreUnavailableError } from "./errors.ts";
import type { Operation } from "./operation.ts";
import { type IdempotencyRecord, isClaimOf, isExpired, judge, successionOf } from "./record.ts";
import type { Claim, Effects, SettleAnswer, Settlement, Store } from "./store.ts";

const RELEASE_PATIENCE_MS = 1000;
const ASKING_PATIENCE_MS = 1000;

export const NO_EFFECTS: Effects<never> = { writes: [], messages: [] };

/** What an attempt starts from. */
export interface Start {
  /** When the right to run began (epoch ms). */
  readonly since: number;
  /** Absent where the attempt runs without one. */
  readonly claim?: Claim | undefined;
  /** The record that was there without holding anybody back. */
  readonly seen?: IdempotencyRecord | undefined;
}

/** What an attempt that records nothing learns. */
export interface GivenBack {
  /** Another attempt has taken the claim. */
  readonly isLost: boolean;
  /** The record, where it is another attempt's. */
  readonly record?: IdempotencyRecord | undefined;
}

export class Recording<Write> {
  readonly since: number;
  readonly #operation: Operation<Write>;
  #claim: Claim | undefined;
  #seen: IdempotencyRecord | undefined;

  constructor(operation: Operation<Write>, { since, claim, seen }: Start) {
    this.#operation = operation;
    this.since = since;
    this.#claim = claim;
    this.#seen = seen;
  }

  /** Nobody else can have run so far, as long as clocks differ by no more than the skew. */
  get isLive(): boolean {
    const { options } = this.#operation;
    if (!this.#claim) return false;
    return this.#operation.now() <= this.#claim.leaseEndsAt - options.clockSkewSeconds * 1000;
  }

  /** Writes a finished state with its effects: all of it, or nothing. */
  finish(
    state: "completed" | "failed",
    result: string | undefined,
    effects: Effects<Write>,
  ): Promise<SettleAnswer> {
    const write = this.#claim ? this.#settle(state, result, effects) : this.#insert(state, result, effects);
    return this.#operation.insist(this.#operation.recordUntil(this.since), write);
  }

  /**
   * Lets a retry run at once. Without a claim there is nothing to give back, but another attempt may have finished.
   * @throws StoreUnavailableError
   */
  async giveBack(): Promise<GivenBack> {
    const operation = this.#operation;
    const until = Math.min(operation.recordUntil(this.since), operation.now() + RELEASE_PATIENCE_MS);
    if (!this.#claim) {
      const found = await operation.insist(until, () => this.#find());
      // A claim of ours may be there, whose answers were all lost.
      if (!found.isOwn) return { isLost: false, record: found.record };
    }
    // A release is a courtesy to the next retry: it does not keep the caller waiting for its answer.
    const answer = await operation.insist(until, this.#settle("released", undefined, NO_EFFECTS));
    return answer.settled ? { isLost: false } : { isLost: true, record: answer.record };
  }

  /**
   * The record as it is, for an attempt that was aborted and must not release. Takes half of the time that is left; where
   * nothing ends the process at its deadline, or it is over, a second.
   */
  async look(): Promise<GivenBack> {
    const operation = this.#operation;
    const over = new AbortController();
    const msLeft =
      operation.call.remainingMs === undefined ? 0 : operation.deadline(this.since) - operation.now();
    const patience = msLeft > 0 ? msLeft / 2 : ASKING_PATIENCE_MS;
    const giveUp = async () => {
      await operation.options.clock.sleep(patience, over.signal);
      throw new StoreUnavailableError("unreachable", new Error("no time was left to ask"));
    };
    try {
      const { isOwn, record } = await operation.ask(() => Promise.race([this.#find(), giveUp()]));
      return isOwn ? { isLost: false } : { isLost: this.#claim !== undefined, record };
    } finally {
      over.abort("over");
    }
  }

  /**
   * Rules out that a late copy of a refused commit is applied: claims the key under a fresh token, so that the copy's
   * condition on the record cannot hold any more. Resolves to `undefined` when that is certain; to the answer of the
   * copy when it was applied already, or to the record of another attempt that finished.
   * @throws StoreUnavailableError: then nobody knows.
   */
  async fence(): Promise<SettleAnswer | undefined> {
    const operation = this.#operation;
    const { token } = operation;
    operation.renewToken();
    const until = operation.recordUntil(this.since);
    try {
      return await operation.insist(until, async (store) => {
        for (let races = 0; races < MAX_RACES; races++) {
          // Its lease could be over before it is answered, and a late copy of it claim under the same number again.
          if (races > 0 && operation.now() >= until) throw claimTookTooLong();
          const held = this.#claim;
          const claim = held
            ? { ...held, token: operation.token, keepsSteps: true }
            : claimAt(operation, operation.now(), this.#seen);
          const answer = await store.claim(claim, held ? recordOf(held) : this.#seen);
          const { record } = answer.won ? {} : answer;
          if (answer.won || isClaimOf(record, operation.token)) {
            this.#claim = claim;
            return undefined;
          }
          // A claim under the former token is one of ours whose answers were all lost: it is replaced.
          const isFormer = isClaimOf(record, token);
          if (record?.token === token && !isFormer) return { settled: true };
          if (held || (record && !isFormer && !isVacant(operation, record))) return this.#heldBy(record);
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
    const { options, identity, token } = this.#operation;
    const record = await options.store.find(identity.recordKey, { consistent: true });
    return { isOwn: isClaimOf(record, token), record };
  }

  #settle(state: Settlement["state"], result: string | undefined, effects: Effects<Write>) {
    const operation = this.#operation;
    const now = operation.now();
    const { identity, token } = operation;
    const { writes, messages } = effects;
    const expiresAt = operation.expiresAt(now);
    const { recordKey } = identity;
    const settlement = { recordKey, token, now, state, result, expiresAt, writes, messages };
    return (store: Store<Write>) => store.settle(settlement);
  }

  #insert(state: "completed" | "failed", result: string | undefined, effects: Effects<Write>) {
    const operation = this.#operation;
    const endedAt = operation.now();
    const { identity, token, fingerprint } = operation;
    const end = {
      recordKey: identity.recordKey,
      token,
      fingerprint,
      now: endedAt,
      state,
      result,
      expiresAt: operation.expiresAt(endedAt),
      ...effects,
    };
    // Until then the record of an attempt that finished meanwhile is still there; later nobody can tell.
    const recordedUntil = operation.expiresAt(this.since) * 1000;
    return async (store: Store<Write>): Promise<SettleAnswer> => {
      for (let races = 0; races < MAX_RACES; races++) {
        const now = operation.now();
        if (now >= recordedUntil) return { settled: false, record: undefined };
        const seen = this.#seen;
        if (seen && isExpired(seen, now)) refuseExpiredKey(operation);
        const answer = await store
          .insert({ ...end, ...successionOf(seen, now) }, seen)
          .catch((error: unknown) => {
            // A try before this one was refused by the record; a copy of it may find none, once TTL has deleted that.
            if (races > 0 && isRefusedCondition(error)) error.mayStillApply = true;
            throw error;
          });
        // What is refused by nothing was seen, and is gone by now (TTL).
        if (answer.settled || (answer.record ? !isVacant(operation, answer.record) : !seen)) return answer;
        this.#seen = answer.record;
      }
      throw new StoreUnavailableError("conflict", undefined);
    };
  }
}

function isVacant<Write>(operation: Operation<Write>, record: IdempotencyRecord): boolean {
  const verdict = judge(record, operation.seek());
  return verdict === "vacant" || verdict === "expired";
}

/** What a store compares of the record that is replaced. */
function recordOf({ token, leaseEndsAt }: Claim): IdempotencyRecord {
  return { token, leaseEndsAt, state: "in-progress" } as IdempotencyRecord;
}

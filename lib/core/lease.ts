/**
 * The lease of one attempt: its claim, until when no other attempt may take the key over, and the recorded steps under that
 * claim. An attempt without a claim knows only the record that it saw before it ran.
 */
import type { Claimed, Unclaimed } from "./claiming.ts";
import type { OngoingCall } from "./ongoing-call.ts";
import {
  classify,
  type IdempotencyRecord,
  isClaimOf,
  openStepsOf,
  type StoredStep,
  type StoredSteps,
} from "./record.ts";
import type { Claim } from "./store.ts";

export class Lease<Write> {
  /** When the right to run began (epoch ms). */
  readonly since: number;
  /** When the previous attempt ended, at the latest (epoch ms). */
  readonly formerEndedAt: number;
  readonly formerEvidence: string | undefined;
  readonly #call: OngoingCall<Write>;
  /** Every write of this attempt carries it. A fence replaces it: an earlier record is then no longer ours. */
  token: string;
  /** Absent in an attempt without a claim, unless a fence has claimed the key. */
  claim: Claim | undefined;
  /** Without a claim: the record that this attempt last saw. */
  seen: IdempotencyRecord | undefined;
  /** The recorded steps of this attempt and the previous ones. */
  steps: StoredSteps = {};
  /** A finished state is recorded: no other attempt takes the key over any more. */
  isOver = false;

  constructor(call: OngoingCall<Write>, admission: Claimed | Unclaimed) {
    this.#call = call;
    this.token = call.token;
    this.since = admission.since;
    this.formerEndedAt = admission.kind === "claimed" ? admission.formerEndedAt : admission.since;
    if (admission.kind === "claimed") {
      this.formerEvidence = admission.formerEvidence;
      this.claim = admission.claim;
      this.steps = admission.steps;
    } else this.seen = admission.seen;
  }

  get isClaimed(): boolean {
    return this.claim !== undefined;
  }

  /** No other attempt can have run so far, as long as clocks differ by no more than the skew. */
  get isLive(): boolean {
    return this.isClaimed && this.#call.now() <= this.liveUntil;
  }

  /** When the key was first claimed (epoch ms). */
  get startedAt(): number {
    return (this.claim as Claim).createdAt;
  }

  /** When other calls may take over the claim (epoch ms). An attempt that has concluded, or has no claim, is never taken over. */
  get liveUntil(): number {
    if (!this.claim || this.isOver) return Number.POSITIVE_INFINITY;
    return this.claim.leaseEndsAt - this.#call.options.clockSkewSeconds * 1000;
  }

  /** Until then the work may begin: after that the remaining time is only enough to record and answer (epoch ms). */
  get startBy(): number {
    const end = this.#call.workUntil(this.since);
    return this.#call.renews ? Math.min(end, this.liveUntil) : end;
  }

  /** Whether it is unknown how a step ended. */
  get hasOpenStep(): boolean {
    return openStepsOf({ steps: this.steps }).length > 0;
  }

  /**
   * Renews the lease. Resolves to whether the claim is still this attempt's.
   * @throws StoreUnavailableError
   */
  async renew(): Promise<boolean> {
    const call = this.#call;
    const token = this.token;
    const { recordKey } = call.identity;
    let leaseEndsAt = call.leaseEndsAt(call.now());
    // A claim that may be held never expires.
    let expiresAt = (this.claim as Claim).expiresAt && call.expiresAt(leaseEndsAt);
    const renewal = { recordKey, token, leaseEndsAt, expiresAt };
    const answer = await call.ask((store) => store.renew(renewal));
    if (!answer.renewed) {
      const { record } = answer;
      // The attempt's own end, or its own fence, came first.
      if (!isClaimOf(record, token)) return [token, this.token].includes(record?.token ?? "");
      ({ leaseEndsAt, expiresAt } = record as IdempotencyRecord);
    }
    const claim = this.claim as Claim;
    // A step may have removed the expiry meanwhile: the next renewal then asks for none.
    this.claim = { ...claim, leaseEndsAt, expiresAt: claim.expiresAt && expiresAt };
    return true;
  }

  /** A step was written, which moves the end of the lease by a millisecond. */
  noteStep(name: string, step: StoredStep, expiresAt: number | undefined): void {
    // A fence may have read the record meanwhile, and knows where the result is.
    if (!this.hasStep(name, step)) this.steps = { ...this.steps, [name]: step };
    const current = this.claim as Claim;
    this.claim = { ...current, leaseEndsAt: current.leaseEndsAt + 1, expiresAt };
  }

  /** Whether this exact write of a step is recorded, as far as this attempt knows. */
  hasStep(name: string, { attempt, at }: Pick<StoredStep, "attempt" | "at">): boolean {
    return this.steps[name]?.at === at && this.steps[name]?.attempt === attempt;
  }

  /** The record that refused a fence is still under this claim: a renewal, or the copy of a step, came in between. */
  takeRecord(record: IdempotencyRecord): void {
    const { leaseEndsAt, expiresAt, steps = {} } = record;
    this.claim = { ...(this.claim as Claim), leaseEndsAt, expiresAt };
    this.steps = steps;
  }

  /** Whether an attempt without a claim may replace this record with its own. */
  isVacant(record: IdempotencyRecord): boolean {
    const status = classify(record, this.#call.seek(this.token));
    return status === "vacant" || status === "expired";
  }
}

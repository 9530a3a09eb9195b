/**
 * The store port over two stores. A call runs after it has claimed in both, `from` first; with only one claim it doesn't run.
 * The leader's commit decides. The other store is updated afterwards, once: no caller reads it by itself before
 * `unmigratedRecords` has found nothing.
 */
import type { Clock } from "../core/clock.ts";
import { eraseIn } from "../core/erase-record.ts";
import { crossChecksOf, marksOf } from "../core/front-store.ts";
import { type IdempotencyRecord, isClaimOf, isExpired } from "../core/record.ts";
import type { CrossChecked } from "../core/record-cache.ts";
import type {
  Claim,
  ClaimAnswer,
  Effects,
  EraseAnswer,
  Erasing,
  Insertion,
  RenewAnswer,
  Renewal,
  SettleAnswer,
  Settlement,
  StepChange,
  Store,
} from "../core/store.ts";
import { type UnknownOutcome, unknownOutcomeOf } from "../core/unknown-outcome.ts";
import { bringSteps } from "./bring-steps.ts";
import {
  type Combined,
  combine,
  isOver,
  isStill,
  type Pair,
  type Side,
  type Stores,
  sideOf,
} from "./pair.ts";

const CONSISTENT = { consistent: true } as const;
const NO_EFFECTS: Effects<never> = { writes: [], messages: [] };

/** Longer than two requests need. */
const INSERTION_LEASE_MS = 30_000;

type MoveRefusal = Extract<ClaimAnswer, { won: false }>;

export class MigratingStore implements Store {
  readonly #stores: Stores;
  readonly #leader: Side;
  readonly #clock: Clock;
  readonly writeStep: Store["writeStep"];
  readonly unknownOutcomes: Store["unknownOutcomes"];
  readonly handlerFailed: Store["handlerFailed"];
  readonly handlerLost: Store["handlerLost"];
  readonly handlerOver: Store["handlerOver"];
  readonly patienceMs: Store["patienceMs"];
  readonly patienceClock: Store["patienceClock"];
  readonly crossCheck: CrossChecked["crossCheck"];
  /** @internal */
  readonly sealsResults: boolean;
  /** @internal */
  readonly usesBucket: boolean;
  /** @internal */
  readonly redactsResults: boolean;
  /** @internal */
  readonly copiesRecords = true;
  /** @internal */
  readonly usesPool: boolean;

  constructor(stores: Stores, leader: Side, clock: Clock) {
    this.#stores = stores;
    this.#leader = leader;
    this.#clock = clock;
    const { from, to } = stores;
    if (from.writeStep && to.writeStep) this.writeStep = (change) => this.#writeStep(change);
    const leading = stores[leader];
    this.handlerFailed = leading.handlerFailed?.bind(leading);
    this.handlerLost = leading.handlerLost?.bind(leading);
    this.handlerOver = leading.handlerOver?.bind(leading);
    const patient = from.patienceMs === undefined ? to : from;
    this.patienceMs = patient.patienceMs;
    this.patienceClock = patient.patienceClock;
    if (from.unknownOutcomes && to.unknownOutcomes) this.unknownOutcomes = (query) => this.#unknown(query);
    this.crossCheck = crossChecksOf(from, to);
    const { sealsResults, usesBucket, redactsResults, usesPool } = marksOf(from, to);
    this.usesBucket = usesBucket;
    this.usesPool = usesPool;
    this.sealsResults = sealsResults;
    this.redactsResults = redactsResults;
  }

  async claim(claim: Claim, seen?: IdempotencyRecord): Promise<ClaimAnswer> {
    const { recordKey, token } = claim;
    const { from, to } = this.#stores;
    const pair = await this.#pairOf(recordKey, seen);
    if (seen && !isStill(this.#combined(pair, token), seen)) return this.#refusal(pair, token);
    const first = await from.claim(this.#over(claim, pair.from), pair.from);
    if (!first.won && !isClaimOf(first.record, token)) return this.#refusedBy(first.record, claim);
    let second: ClaimAnswer;
    try {
      second = await to.claim(this.#over(claim, pair.to), pair.to);
    } catch (error) {
      // Lets the next call start without waiting for the lease. If the claim was applied, its token is known to have ended.
      if (first.won && !seen) await this.#release(claim, undefined);
      this.handlerOver?.(token);
      throw error;
    }
    if (!second.won && !isClaimOf(second.record, token)) {
      if (first.won) await this.#release(claim, pair.from);
      return this.#refusal(await this.#read(recordKey), token);
    }
    if (!first.won || !second.won) {
      // An answer was lost, and steps may not have been copied.
      const own = await this.#read(recordKey);
      await this.#bringSteps(claim, own);
      return this.#refusal(own, token);
    }
    if (claim.keepsSteps) await this.#bringSteps(claim, pair);
    return first;
  }

  async settle(settlement: Settlement): Promise<SettleAnswer> {
    const answer = await this.#leading.settle(settlement);
    if (!answer.settled) return { settled: false, record: this.#named(answer.record) };
    await leaveBehind(() => this.#following.settle({ ...settlement, ...NO_EFFECTS }));
    return answer;
  }

  async renew(renewal: Renewal): Promise<RenewAnswer> {
    for (const side of ["from", "to"] as const) {
      const answer = await this.#stores[side].renew(renewal);
      if (!answer.renewed) return { renewed: false, record: this.#named(answer.record, side) };
    }
    return { renewed: true };
  }

  async insert(insertion: Insertion, seen?: IdempotencyRecord): Promise<SettleAnswer> {
    const { recordKey, token } = insertion;
    const { from, to } = this.#stores;
    if (this.#leader === "from" && !seen && !(await to.find(recordKey, CONSISTENT))) {
      // There is no claim in `to`, and any new one has to claim in `from` first.
      const answer = await from.insert(insertion);
      if (!answer.settled)
        return { settled: false, record: (await this.#refusedBy(answer.record, insertion)).record };
      await leaveBehind(() => to.insert({ ...insertion, ...NO_EFFECTS }));
      return answer;
    }
    const claim = { ...insertion, leaseEndsAt: this.#clock.now() + INSERTION_LEASE_MS };
    const answer = await this.claim(claim, seen);
    // Keep this claim if the writes are refused: the same token may use it.
    if (answer.won || isClaimOf(answer.record, token)) return this.settle(insertion);
    const { record } = answer;
    return record?.token === token && record.state === insertion.state
      ? { settled: true }
      : { settled: false, record };
  }

  async find(recordKey: string, read: { consistent: boolean }): Promise<IdempotencyRecord | undefined> {
    return this.#combined(await this.#read(recordKey, read));
  }

  async loadResult(named: string): Promise<string | undefined> {
    const { side, address } = sideOf(named);
    return this.#stores[side]?.loadResult(address);
  }

  /**
   * In both stores, each with one write: a finished key is never open in between. Also erases in a store
   * that missed the end.
   */
  async erase(erasing: Erasing): Promise<EraseAnswer> {
    const counted = await this.find(erasing.recordKey, CONSISTENT);
    let erased: EraseAnswer = { erased: false, state: "absent" };
    for (const side of ["from", "to"] as const) {
      const answer = await eraseIn(this.#stores[side], {
        ...erasing,
        // One of the two deletes the objects of the key.
        reachesBucket: erasing.reachesBucket || this.usesBucket,
        ...(counted && { counted }),
      });
      if (!answer.erased && answer.state !== "absent") return answer;
      if (answer.erased) erased = answer;
    }
    return erased;
  }

  checkEffects(effects: Effects): void {
    this.#leading.checkEffects(effects);
  }

  async #writeStep(change: StepChange): Promise<SettleAnswer> {
    const answer = await this.#leading.writeStep?.(change);
    if (!answer?.settled) return { settled: false, record: this.#named(answer?.record) };
    await leaveBehind(() => this.#following.writeStep?.({ ...change, writes: [] }));
    return answer;
  }

  async *#unknown(query: { readonly before: number }): AsyncGenerator<UnknownOutcome> {
    for (const side of ["from", "to"] as const) {
      for await (const outcome of this.#stores[side].unknownOutcomes?.(query) ?? []) {
        const { recordKey, since } = outcome;
        const known = this.#combine(await this.#read(recordKey));
        if (known?.side !== side) continue;
        const unknown = unknownOutcomeOf(recordKey, known.record, since, query.before);
        if (unknown) yield unknown;
      }
    }
  }

  get #leading(): Store {
    return this.#stores[this.#leader];
  }

  get #following(): Store {
    return this.#stores[this.#leader === "from" ? "to" : "from"];
  }

  async #read(recordKey: string, read = CONSISTENT as { consistent: boolean }): Promise<Pair> {
    const { from, to } = this.#stores;
    const [first, second] = await Promise.all([from.find(recordKey, read), to.find(recordKey, read)]);
    return { from: first, to: second };
  }

  async #pairOf(recordKey: string, seen: IdempotencyRecord | undefined): Promise<Pair> {
    return seen ? this.#read(recordKey) : { from: undefined, to: undefined };
  }

  #combine(pair: Pair, token?: string): Combined | undefined {
    return combine(pair, { leader: this.#leader, now: this.#clock.now(), token });
  }

  #combined(pair: Pair, token?: string): IdempotencyRecord | undefined {
    return this.#combine(pair, token)?.record;
  }

  /** A record that is expired in one store doesn't come back through the other. */
  #over<Beginning extends Pick<Claim, "keepsSteps">>(
    beginning: Beginning,
    seen: IdempotencyRecord | undefined,
  ): Beginning {
    const keepsSteps = beginning.keepsSteps && !(seen && isExpired(seen, this.#clock.now()));
    return { ...beginning, keepsSteps };
  }

  /** A record of one store, as a migrating store returns it. */
  #named(record: IdempotencyRecord | undefined, side = this.#leader): IdempotencyRecord | undefined {
    return this.#combined({ from: undefined, to: undefined, [side]: record });
  }

  #refusal(pair: Pair, token: string): MoveRefusal {
    return { won: false, record: this.#combined(pair, token) };
  }

  async #refusedBy(
    record: IdempotencyRecord | undefined,
    { recordKey, token }: Pick<Claim, "recordKey" | "token">,
  ): Promise<MoveRefusal> {
    // A finished record is an answer, regardless of the other store.
    const isAnswer = record && isOver(record) && !isExpired(record, this.#clock.now());
    const to = isAnswer ? undefined : await this.#stores.to.find(recordKey, CONSISTENT);
    return this.#refusal({ from: record, to }, token);
  }

  /** Undoes a claim in `from` that `to` has refused. A key that was held, or may have to be, is held again. */
  #release(claim: Omit<Claim, "leaseEndsAt">, former: IdempotencyRecord | undefined): Promise<void> {
    const now = this.#clock.now();
    // Without a previous record, the claim expires immediately.
    const expiresAt = former ? former.expiresAt : Math.floor(now / 1000);
    const isHeld = former !== undefined && former.state !== "released" && expiresAt === undefined;
    const settlement: Settlement = {
      ...{ recordKey: claim.recordKey, token: claim.token, now, ...NO_EFFECTS },
      state: isHeld ? "held" : "released",
      isListed: claim.expiresAt === undefined && expiresAt !== undefined,
      ...(expiresAt !== undefined && { expiresAt }),
    };
    return leaveBehind(() => this.#stores.from.settle(settlement));
  }

  #bringSteps(claim: Claim, pair: Pair): Promise<void> {
    return bringSteps(this.#stores, claim, pair, this.#clock.now());
  }
}

/** A follow-up to the other store's decision: that one counts, even if this fails. */
async function leaveBehind(request: () => Promise<unknown> | undefined): Promise<void> {
  try {
    await request();
  } catch {
    // No caller reads this store by itself before `unmigratedRecords` has found what is missing here.
  }
}

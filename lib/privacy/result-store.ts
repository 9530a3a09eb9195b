/** A store in front of another one that tells, and is given, other results. Everything else passes through. */
import { type EraseAnswer, type Erasing, eraseIn } from "../core/erase-record.ts";
import type { IdempotencyRecord } from "../core/record.ts";
import type { CrossChecked } from "../core/record-cache.ts";
import type {
  Claim,
  ClaimAnswer,
  Effects,
  Insertion,
  RenewAnswer,
  Renewal,
  SettleAnswer,
  Settlement,
  StepChange,
  Store,
} from "../core/store.ts";

export abstract class ResultStore<Write> implements Store<Write>, CrossChecked {
  protected readonly store: Store<Write>;
  readonly unknownOutcomes: Store<Write>["unknownOutcomes"];
  readonly writeStep: Store<Write>["writeStep"];
  readonly handlerFailed: Store<Write>["handlerFailed"];
  readonly handlerOver: Store<Write>["handlerOver"];
  readonly crossCheck: CrossChecked["crossCheck"];
  /** @internal Whether the store behind is given results that only this process can read. */
  readonly sealsResults: boolean;

  constructor(store: Store<Write>, sealsResults = false) {
    this.store = store;
    this.sealsResults = sealsResults || (store as Partial<ResultStore<Write>>).sealsResults === true;
    this.crossCheck = (store as CrossChecked).crossCheck?.bind(store);
    this.unknownOutcomes = store.unknownOutcomes?.bind(store);
    this.handlerFailed = store.handlerFailed?.bind(store);
    this.handlerOver = store.handlerOver?.bind(store);
    this.writeStep = store.writeStep && (async (change) => this.#told(change, await this.write(change)));
  }

  /** @internal The same in front of a store that `change` makes of the one behind it. */
  abstract inFrontOf(change: (store: Store<Write>) => Store<Write>): Store<Write>;

  /** As the store behind tells a record → as it is told to callers. */
  protected asTold(_recordKey: string, record: IdempotencyRecord): IdempotencyRecord {
    return record;
  }

  /** The way back: the store behind compares, and may write again, what it told itself. */
  protected asStored(record: IdempotencyRecord): IdempotencyRecord {
    return record;
  }

  /** The text that the store behind is given for the result of an end. */
  protected abstract storedText(end: Settlement<Write> | Insertion<Write>): Promise<string | undefined>;

  /** The end as the store behind is given it. */
  protected async stored<End extends Settlement<Write> | Insertion<Write>>(end: End): Promise<End> {
    return { ...end, result: await this.storedText(end) };
  }

  protected write(change: StepChange<Write>): Promise<SettleAnswer> {
    return (this.store as Required<Store<Write>>).writeStep(change);
  }

  async claim(claim: Claim, seen?: IdempotencyRecord): Promise<ClaimAnswer> {
    return this.#told(claim, await this.store.claim(claim, seen && this.asStored(seen)));
  }

  async settle(settlement: Settlement<Write>): Promise<SettleAnswer> {
    return this.#told(settlement, await this.store.settle(await this.stored(settlement)));
  }

  async renew(renewal: Renewal): Promise<RenewAnswer> {
    return this.#told(renewal, await this.store.renew(renewal));
  }

  async insert(insertion: Insertion<Write>, seen?: IdempotencyRecord): Promise<SettleAnswer> {
    const stored = seen && this.asStored(seen);
    return this.#told(insertion, await this.store.insert(await this.stored(insertion), stored));
  }

  async find(recordKey: string, read: { consistent: boolean }): Promise<IdempotencyRecord | undefined> {
    const record = await this.store.find(recordKey, read);
    return record && this.asTold(recordKey, record);
  }

  loadResult(address: string): Promise<string | undefined> {
    return this.store.loadResult(address);
  }

  /** Without any key: what is erased need not be opened, and what stands in its place is no secret. */
  erase(erasing: Erasing): Promise<EraseAnswer> {
    return eraseIn(this.store, erasing);
  }

  checkEffects(effects: Effects<Write>): void {
    this.store.checkEffects(effects);
  }

  #told<Answer extends object>({ recordKey }: { readonly recordKey: string }, answer: Answer): Answer {
    const { record } = answer as { readonly record?: IdempotencyRecord };
    return record ? { ...answer, record: this.asTold(recordKey, record) } : answer;
  }
}

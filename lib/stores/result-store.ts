/** A store in front of another one that changes results on the way in and out. Everything else passes through. */
import { FrontStore } from "../core/front-store.ts";
import type { IdempotencyRecord } from "../core/record.ts";
import type {
  Claim,
  ClaimAnswer,
  Insertion,
  RenewAnswer,
  Renewal,
  SettleAnswer,
  Settlement,
  StepChange,
  Store,
} from "../core/store.ts";

export abstract class ResultStore<Write> extends FrontStore<Write> implements Store<Write> {
  /** A record from the underlying store → the record that callers see. */
  protected asTold(_recordKey: string, record: IdempotencyRecord): IdempotencyRecord {
    return record;
  }

  /** The reverse: the underlying store compares, and may rewrite, its own form. */
  protected asStored(record: IdempotencyRecord): IdempotencyRecord {
    return record;
  }

  /** The result text to store for an end. */
  protected abstract storedText(end: Settlement<Write> | Insertion<Write>): Promise<string | undefined>;

  /** The end as the underlying store receives it. */
  protected async stored<End extends Settlement<Write> | Insertion<Write>>(end: End): Promise<End> {
    return { ...end, result: await this.storedText(end) };
  }

  protected override async passStep(change: StepChange<Write>): Promise<SettleAnswer> {
    return this.#reported(change, await this.write(change));
  }

  protected write(change: StepChange<Write>): Promise<SettleAnswer> {
    return super.passStep(change);
  }

  async claim(claim: Claim, seen?: IdempotencyRecord): Promise<ClaimAnswer> {
    return this.#reported(claim, await this.store.claim(claim, seen && this.asStored(seen)));
  }

  async settle(settlement: Settlement<Write>): Promise<SettleAnswer> {
    return this.#reported(settlement, await this.store.settle(await this.stored(settlement)));
  }

  async renew(renewal: Renewal): Promise<RenewAnswer> {
    return this.#reported(renewal, await this.store.renew(renewal));
  }

  async insert(insertion: Insertion<Write>, seen?: IdempotencyRecord): Promise<SettleAnswer> {
    const stored = seen && this.asStored(seen);
    return this.#reported(insertion, await this.store.insert(await this.stored(insertion), stored));
  }

  async find(recordKey: string, read: { consistent: boolean }): Promise<IdempotencyRecord | undefined> {
    const record = await this.store.find(recordKey, read);
    return record && this.asTold(recordKey, record);
  }

  #reported<Answer extends object>({ recordKey }: { readonly recordKey: string }, answer: Answer): Answer {
    const { record } = answer as { readonly record?: IdempotencyRecord };
    return record ? { ...answer, record: this.asTold(recordKey, record) } : answer;
  }
}

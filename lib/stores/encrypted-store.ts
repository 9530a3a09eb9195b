/**
 * The store port over a store that sees no plain result. A sealed result is reported as one in a separate item, so it is
 * decrypted only when it is asked for, and not each time its record is read.
 */
import { errorNameOf } from "../core/ask-verify.ts";
import { hasCode } from "../core/error-code.ts";
import { NOT_KEPT } from "../core/outcome.ts";
import type { IdempotencyRecord, StoredResult } from "../core/record.ts";
import { bucketOf } from "../core/result-pointer.ts";
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
import { isLease } from "../core/store-lease.ts";
import { ResultStore } from "./result-store.ts";
import type { SealedMessages } from "./sealed-messages.ts";
import { isSealed, ownerOf, type SealedPlace, type Sealer } from "./sealer.ts";

/** Prefix of the addresses that this store returns. */
const MARK = "sealed ";

/** Where a result is: the text itself, or the address from the underlying store. */
interface SealedAddress {
  readonly recordKey: string;
  readonly step?: string | undefined;
  readonly text?: string;
  readonly address?: string;
}

export class EncryptedStore<Write> extends ResultStore<Write> {
  readonly #sealer: Sealer;
  /** A repeated request writes the same text. */
  readonly #sealing = new WeakMap<object, Promise<string>>();
  readonly #messages: SealedMessages | undefined;

  constructor(store: Store<Write>, sealer: Sealer, messages: SealedMessages | undefined) {
    super(store, { sealsResults: true });
    this.#sealer = sealer;
    this.#messages = messages;
  }

  inFrontOf(change: (store: Store<Write>) => Store<Write>): Store<Write> {
    return new EncryptedStore(change(this.store), this.#sealer, this.#messages);
  }

  override async claim(claim: Claim, seen?: IdempotencyRecord): Promise<ClaimAnswer> {
    if (isLease(claim.recordKey)) return super.claim(claim, seen);
    try {
      // Before the handler runs: recording its work must not depend on the key service.
      await this.#sealer.prepare(placeOf(claim).context, claim.leaseEndsAt);
    } catch (error) {
      // A completed or running key needs no data key to say so, and must not look like one that can run.
      const record = await this.find(claim.recordKey, { consistent: true });
      if (!record || (record.token === seen?.token && record.state === seen.state)) throw error;
      return { won: false, record };
    }
    return super.claim(claim, seen);
  }

  override async renew(renewal: Renewal): Promise<RenewAnswer> {
    this.#sealer.keep(ownerOf(renewal.recordKey), renewal.leaseEndsAt);
    return super.renew(renewal);
  }

  override async loadResult(sealed: string): Promise<string | undefined> {
    const { recordKey, step, text, address = "" } = addressOf(sealed);
    const stored = text ?? (await this.store.loadResult(address));
    return stored !== undefined && isSealed(stored)
      ? this.#sealer.open(stored, placeOf({ recordKey, step }))
      : stored;
  }

  override checkEffects(effects: Effects<Write>): void {
    super.checkEffects(effects);
    // Checked now, because the handler can't learn later that a message is too large.
    if (this.#messages)
      super.checkEffects({ ...effects, messages: this.#messages.largest(effects.messages) });
  }

  protected override async stored<End extends Settlement<Write> | Insertion<Write>>(end: End): Promise<End> {
    const stored = await super.stored(end);
    if (!this.#messages) return stored;
    return { ...stored, messages: await this.#messages.seal(end.recordKey, end.messages) };
  }

  protected override async write(change: StepChange<Write>): Promise<SettleAnswer> {
    const { recordKey, name, seen } = change;
    const result = await this.#sealed(change, { recordKey, step: name });
    return super.write({ ...change, result, seen: seen && withStored(seen) });
  }

  protected override storedText(end: Settlement<Write> | Insertion<Write>): Promise<string | undefined> {
    return this.#sealed(end, end);
  }

  protected override asTold(recordKey: string, record: IdempotencyRecord): IdempotencyRecord {
    return withResults(record, (result, step) => {
      if (result.in === "nowhere" || (result.in === "record" && !isSealed(result.text))) return result;
      const place = result.in === "record" ? { text: result.text } : { address: result.address };
      const inBucket = bucketOf(result);
      return {
        in: "item",
        address: MARK + JSON.stringify({ recordKey, step, ...place }),
        ...(inBucket && { inBucket }),
      };
    });
  }

  protected override asStored(record: IdempotencyRecord): IdempotencyRecord {
    return withResults(record, resultAsStored);
  }

  /** Never fails for lack of a key once the effect may have happened: it then records that the result is not kept. */
  async #sealed(
    request: Settlement<Write> | Insertion<Write> | StepChange<Write>,
    { recordKey, step }: SealedAddress,
  ): Promise<string | undefined> {
    const { result } = request;
    if (result === undefined) return undefined;
    const known = this.#sealing.get(request);
    if (known) return known;
    const sealing = this.#sealer.seal(result, placeOf({ recordKey, step })).catch((error: unknown) => {
      // Without a claim, the writes and messages are the effect, and nothing has happened yet: they can wait for a key.
      if (isEffect(request) && hasCode(error, "STORE_UNAVAILABLE")) {
        this.#sealing.delete(request);
        throw error;
      }
      process.emitWarning("the result of an operation can't be encrypted, so it isn't kept", {
        code: "ONCEONLY_ENCRYPT",
        detail: errorNameOf(error),
      });
      return NOT_KEPT;
    });
    this.#sealing.set(request, sealing);
    return sealing;
  }
}

/** An insertion with writes or messages: a run without a claim has no other effects. */
const isEffect = (request: object): boolean => {
  const { fingerprint, writes = [], messages = [] } = request as Partial<Insertion>;
  return fingerprint !== undefined && writes.length + messages.length > 0;
};

function placeOf({ recordKey, step }: Pick<SealedAddress, "recordKey" | "step">): SealedPlace {
  return { context: ownerOf(recordKey), place: JSON.stringify([recordKey, step ?? null]) };
}

/** An address from elsewhere has no record: text sealed there can't be opened. */
function addressOf(sealed: string): SealedAddress {
  return sealed.startsWith(MARK) ? JSON.parse(sealed.slice(MARK.length)) : { recordKey: "", address: sealed };
}

function resultAsStored(result: StoredResult): StoredResult {
  if (result.in !== "item") return result;
  const { text, address = "" } = addressOf(result.address);
  return text === undefined ? { in: "item", address } : { in: "record", text };
}

function withStored<Holder extends { readonly result?: StoredResult }>(holder: Holder): Holder {
  return holder.result ? { ...holder, result: resultAsStored(holder.result) } : holder;
}

function withResults(
  { result, steps, ...record }: IdempotencyRecord,
  change: (result: StoredResult, step: string | undefined) => StoredResult,
): IdempotencyRecord {
  const changed = Object.entries(steps ?? {}).map(
    ([name, step]) => [name, step.result ? { ...step, result: change(step.result, name) } : step] as const,
  );
  return {
    ...record,
    ...(result && { result: change(result, undefined) }),
    ...(steps && { steps: Object.fromEntries(changed) }),
  };
}

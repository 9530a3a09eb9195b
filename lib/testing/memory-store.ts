/** The store port in memory: for tests, and as the model for other stores. */
import { STEPS_VERSION } from "../contract.ts";
import { eraseAlone } from "../core/erase-record.ts";
import { CommitInvalidError } from "../core/errors.ts";
import {
  type IdempotencyRecord,
  isClaimOf,
  isTracked,
  type StoredResult,
  type StoredStep,
  versionOf,
} from "../core/record.ts";
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
import { MemoryOutbox } from "./memory-outbox.ts";
import { type Item, isMemoryWrite, MemoryTables, type MemoryWrite } from "./memory-tables.ts";

export interface MemoryStoreOptions {
  /**
   * The largest result that is kept, in bytes; beyond it the record says that the result is not kept.
   * @default - every result is kept
   */
  readonly maxResultBytes?: number;
  /**
   * The time of the database in the store's answers, in epoch ms.
   * @default - no time
   */
  readonly serverTime?: () => number;
}

/** Larger results are stored outside the record, as in databases with a size limit. */
const MAX_INLINE_BYTES = 1024;

/**
 * Keeps records, results and business items in the memory of one process, with the semantics of the port:
 * each call is one atomic decision. Nothing is ever deleted by age.
 */
export class MemoryStore implements Store<MemoryWrite> {
  readonly #records = new Map<string, IdempotencyRecord>();
  readonly #results = new Map<string, string>();
  readonly #tables = new MemoryTables();
  readonly #options: MemoryStoreOptions;
  readonly #expiresOnceSent = new Map<string, number>();
  /** The outbox of this store's commits. */
  readonly outbox = new MemoryOutbox(({ recordKey }) => {
    this.alter(recordKey, { expiresAt: this.#expiresOnceSent.get(recordKey) });
    this.#expiresOnceSent.delete(recordKey);
  });

  constructor(options: MemoryStoreOptions = {}) {
    this.#options = options;
  }

  async claim(claim: Claim, seen?: IdempotencyRecord): Promise<ClaimAnswer> {
    const former = this.#records.get(claim.recordKey);
    if (!isStill(former, seen)) return { won: false, record: copyOf(former) };
    this.#records.set(claim.recordKey, {
      ...recordFrom(claim, former),
      state: "in-progress",
      leaseEndsAt: claim.leaseEndsAt,
      ...(claim.expiresAt !== undefined && { expiresAt: claim.expiresAt }),
    });
    const serverTimeMs = this.#options.serverTime?.();
    return { won: true, ...(serverTimeMs !== undefined && { serverTimeMs }) };
  }

  async settle(settlement: Settlement<MemoryWrite>): Promise<SettleAnswer> {
    const former = this.#records.get(settlement.recordKey);
    const isOwn = former?.token === settlement.token;
    if (isOwn && former.state === settlement.state) return { settled: true };
    if (!isOwn || former.state !== "in-progress") return { settled: false, record: copyOf(former) };
    this.#tables.apply(settlement.writes);
    this.#finish(former, settlement);
    return { settled: true };
  }

  async renew({ recordKey, token, leaseEndsAt, expiresAt }: Renewal): Promise<RenewAnswer> {
    const record = this.#records.get(recordKey);
    const isTaken = expiresAt !== undefined && record?.expiresAt === undefined;
    if (!record || !isClaimOf(record, token) || record.leaseEndsAt > leaseEndsAt || isTaken)
      return { renewed: false, record: copyOf(record) };
    this.#records.set(recordKey, {
      ...record,
      leaseEndsAt,
      ...(expiresAt !== undefined && { expiresAt }),
    });
    return { renewed: true };
  }

  async writeStep(change: StepChange<MemoryWrite>): Promise<SettleAnswer> {
    const { recordKey, token, name, step, seen, isFirst } = change;
    const former = this.#records.get(recordKey);
    if (!former || !isClaimOf(former, token)) return { settled: false, record: copyOf(former) };
    const now = former.steps?.[name];
    if (isSameStep(now, step)) return { settled: true, ...lostOf(now?.result) };
    if (!isSameStep(now, seen) || isFirst !== (former.steps === undefined))
      return { settled: false, record: copyOf(former) };
    this.#tables.apply(change.writes);
    const result = this.#keep({ ...change, token: `${token}/${name}/${step.at}` });
    const { expiresAt, ...unending } = former;
    const kept = isTracked({ steps: { step } }) || expiresAt === undefined ? unending : former;
    this.#records.set(recordKey, {
      ...kept,
      version: STEPS_VERSION,
      leaseEndsAt: former.leaseEndsAt + 1,
      steps: { ...former.steps, [name]: { ...step, ...(result && { result }) } },
    });
    return { settled: true, ...lostOf(result) };
  }

  async insert(insertion: Insertion<MemoryWrite>, seen?: IdempotencyRecord): Promise<SettleAnswer> {
    const former = this.#records.get(insertion.recordKey);
    const isOwn = former?.token === insertion.token;
    if (isOwn && former.state === insertion.state) return { settled: true };
    const isOwnClaim = isOwn && former.state === "in-progress";
    if (!isOwnClaim && !isStill(former, seen)) return { settled: false, record: copyOf(former) };
    this.#tables.apply(insertion.writes);
    this.#finish(isOwnClaim ? former : recordFrom(insertion, former), insertion);
    return { settled: true };
  }

  async find(recordKey: string, _read: { consistent: boolean }): Promise<IdempotencyRecord | undefined> {
    return copyOf(this.#records.get(recordKey));
  }

  async loadResult(address: string): Promise<string | undefined> {
    return this.#results.get(address);
  }

  async erase(erasing: Erasing): Promise<EraseAnswer> {
    const answer = await eraseAlone(this, erasing);
    if (!answer.erased) return answer;
    for (const address of this.#results.keys())
      if (address.startsWith(`${erasing.recordKey}/`)) this.#results.delete(address);
    return answer;
  }

  checkEffects({ writes }: Effects<MemoryWrite>): void {
    const index = writes.findIndex((write) => !isMemoryWrite(write));
    if (index !== -1) {
      throw new CommitInvalidError(`writes[${index}] must have table, key, item and at most a condition`);
    }
  }

  async *unknownOutcomes({ before }: { readonly before: number }): AsyncGenerator<UnknownOutcome> {
    for (const [recordKey, record] of [...this.#records]) {
      const outcome = unknownOutcomeOf(recordKey, record, record.completedAt ?? record.leaseEndsAt, before);
      if (outcome) yield outcome;
    }
  }

  /** The items that were written to a table so far. */
  table(name: string): ReadonlyMap<string, Item> {
    return this.#tables.table(name);
  }

  /** Every record by its key, read directly. */
  get records(): ReadonlyMap<string, IdempotencyRecord> {
    return this.#records;
  }

  /** Every result outside a record, by its address, which begins with the record's key. */
  get results(): ReadonlyMap<string, string> {
    return this.#results;
  }

  /** Changes a record directly; `undefined` deletes it, as TTL does. */
  alter(recordKey: string, change: Partial<IdempotencyRecord> | undefined): void {
    const record = this.#records.get(recordKey);
    if (change === undefined) {
      this.#records.delete(recordKey);
      this.outbox.forget(recordKey);
    } else if (record !== undefined) this.#records.set(recordKey, { ...record, ...structuredClone(change) });
  }

  #finish(record: IdempotencyRecord, end: Settlement<MemoryWrite> | Insertion<MemoryWrite>): void {
    const { expiresAt: _, steps, ...others } = record;
    const kept = steps && !("dropsSteps" in end && end.dropsSteps) ? { ...others, steps } : others;
    const { recordKey, state, token, now, expiresAt, evidence, messages } = end;
    const result = this.#keep(end);
    const isUnsent = messages.length > 0;
    this.#records.set(recordKey, {
      ...kept,
      version: versionOf("steps" in kept ? kept.steps : undefined),
      state,
      completedAt: now,
      ...(expiresAt !== undefined && !isUnsent && { expiresAt }),
      ...(evidence !== undefined && { evidence }),
      ...(result !== undefined && { result }),
    });
    if (!isUnsent) return;
    if (expiresAt !== undefined) this.#expiresOnceSent.set(recordKey, expiresAt);
    this.outbox.add({ recordKey, token, committedAt: now, messages });
  }

  #keep({ recordKey, token, result }: Pick<Settlement, "recordKey" | "token" | "result">) {
    if (result === undefined) return undefined;
    const bytes = Buffer.byteLength(result);
    if (bytes > (this.#options.maxResultBytes ?? Number.POSITIVE_INFINITY)) {
      return { in: "nowhere", bytes } satisfies StoredResult;
    }
    if (bytes <= MAX_INLINE_BYTES) return { in: "record", text: result } satisfies StoredResult;
    const address = `${recordKey}/${token}`;
    this.#results.set(address, result);
    return { in: "item", address } satisfies StoredResult;
  }
}

const lostOf = (result: StoredResult | undefined) =>
  result?.in === "nowhere" ? { lostBytes: result.bytes } : {};

/** There is no record, or it is unchanged since it was seen. */
function isStill(former: IdempotencyRecord | undefined, seen: IdempotencyRecord | undefined): boolean {
  return (
    former?.token === seen?.token &&
    former?.state === seen?.state &&
    former?.leaseEndsAt === seen?.leaseEndsAt
  );
}

function isSameStep(one: Omit<StoredStep, "result"> | undefined, other: typeof one): boolean {
  return one?.state === other?.state && one?.attempt === other?.attempt && one?.at === other?.at;
}

/** The record that follows `former` with a new token. Its lease has already ended, except for a claim. */
function recordFrom(
  beginning: Claim | Insertion<MemoryWrite>,
  former: IdempotencyRecord | undefined,
): IdempotencyRecord {
  const { token, fingerprint, attempt, createdAt, keepsSteps } = beginning;
  return {
    version: versionOf(keepsSteps ? former?.steps : undefined),
    state: "in-progress",
    token,
    attempt,
    leaseEndsAt: "now" in beginning ? beginning.now : 0,
    fingerprint,
    createdAt,
    ...(keepsSteps && former?.steps !== undefined && { steps: former.steps }),
    ...(keepsSteps && former?.evidence !== undefined && { evidence: former.evidence }),
  };
}

/** A copy, so that neither the caller nor the store sees the other's later changes. */
function copyOf(record: IdempotencyRecord | undefined): IdempotencyRecord | undefined {
  return structuredClone(record);
}

/**
 * The port between the protocol and a database. A store needs two operations: insert if absent, and update if the record is
 * unchanged since it was read. The engine has all the policy, including the rule of who may claim (`classify` in
 * core/record.ts). Every adapter passes the contract suite of `onceonly/testing` unchanged.
 *
 * The `version` of a record follows from its steps, by `versionOf` in core/record.ts: the first step raises it, dropping the
 * steps lowers it again, and nothing else changes it. So code that doesn't know steps refuses the record.
 *
 * Every store guarantees that each method is one atomic decision. A method that rejects with StoreUnavailableError may or may
 * not have been applied, and can be repeated with the same arguments.
 */
import type { ByWhom } from "./by-whom.ts";
import type { Clock, Random } from "./clock.ts";
import type { StoredMessage } from "./messages/outgoing-message.ts";
import type { IdempotencyRecord, State, StoredStep, Succession } from "./record.ts";
import type { UnknownOutcome } from "./unknown-outcome.ts";

export interface Store<Write = unknown> {
  /**
   * Without `seen`, inserts the record if there is none. With `seen`, replaces the record if it still has the same token, state
   * and lease end. It then has the values of `claim` and no result; it keeps its steps and its evidence only with `keepsSteps`.
   */
  claim(claim: Claim, seen?: IdempotencyRecord): Promise<ClaimAnswer>;

  /**
   * Changes the record's state if its token is `settlement.token` and it is in progress, in one transaction with `writes`. A
   * record that this token already moved to the same state counts as settled (an answer was lost). `messages` are kept with the
   * record until an Outbox (core/messages/outbox.ts) marks them as sent; it does not expire before.
   * @throws TransactionConditionError if one of `writes` was refused; then nothing is applied.
   */
  settle(settlement: Settlement<Write>): Promise<SettleAnswer>;

  /**
   * Extends a claim if its token is `renewal.token`, it is in progress, and its lease doesn't end later than the renewal's. So
   * a late copy can't shorten a lease. A repetition counts as renewed. Without `expiresAt` the record's own stays. A record
   * without an expiry refuses a renewal that has one, because a step that began has removed the expiry meanwhile.
   */
  renew(renewal: Renewal): Promise<RenewAnswer>;

  /**
   * Writes one step into the record, in one transaction with `writes`. The conditions are those of `settle`, and that the step
   * is still `change.seen`. The lease then ends a millisecond later, so that no call takes over a record without having seen
   * its steps. A step that already has the given values counts as written (an answer was lost). A step that was begun or is
   * tracked removes the record's expiry; the record is then listed until it ends. A store without this method doesn't support
   * steps.
   * @throws TransactionConditionError as `settle`.
   */
  writeStep?(change: StepChange<Write>): Promise<SettleAnswer>;

  /**
   * Creates a finished record without a claim, in one transaction with `writes`, under the condition of `claim`. A record that
   * this token already finished with these values counts as settled. A record that this token claimed is settled, and keeps its
   * attempt and its steps.
   * @throws TransactionConditionError as `settle`.
   */
  insert(insertion: Insertion<Write>, seen?: IdempotencyRecord): Promise<SettleAnswer>;

  /** Reads a record, whatever its state or age. If `consistent` is false, the answer may be stale. */
  find(recordKey: string, read: { consistent: boolean }): Promise<IdempotencyRecord | undefined>;

  /** Loads a result stored in its own item; `undefined` if it is gone. */
  loadResult(address: string): Promise<string | undefined>;

  /**
   * Refuses effects that can never be accepted (shape, size, count), before any I/O.
   * @throws CommitInvalidError, OutboxTransactionTooLargeError
   */
  checkEffects(effects: Effects<Write>): void;

  /**
   * Lists keys that have been unsettled since before `before` (epoch ms): held keys, attempts whose claim has no expiry and
   * whose lease has ended, and released keys without an expiry. Reads the next page only when the caller goes on. May miss a
   * record written in the last moments. A store without this method can't hold keys: `whenAbandoned` is refused if it is `hold`
   * or `verify`.
   */
  readonly unknownOutcomes?:
    | ((query: { readonly before: number }) => AsyncIterable<UnknownOutcome>)
    | undefined;

  /**
   * Erases a finished record's result in each store that this one is made of, and in its memory. A store without this method is
   * a single one: `insert` over a finished record leaves nothing of the previous result.
   */
  readonly erase?: ((erasing: Erasing) => Promise<EraseAnswer>) | undefined;

  /**
   * Called with the error that the handler of the claim with this token threw. Only for a store whose claim begins a
   * transaction in which the handler runs. The transaction is rolled back, so that its connection is free for the engine's next
   * requests.
   * @throws StoreUnavailableError if the database ended that transaction, so that the call may be made again
   */
  readonly handlerFailed?: ((error: unknown, token: string) => void | Promise<void>) | undefined;

  /**
   * Resolves to the reason when the transaction of the handler with this token is lost. A client library may leave the handler
   * waiting forever for such a transaction, so the call then ends without it. For the same stores as `handlerFailed`.
   */
  readonly handlerLost?: ((token: string) => Promise<Error> | undefined) | undefined;

  /**
   * How long a call waits for one answer, in ms, unless its own deadline comes first. Then it fails with a
   * StoreUnavailableError. For a store whose client may never answer once its connection is lost.
   * @default - no limit
   */
  readonly patienceMs?: number | undefined;

  /**
   * The clock that measures the wait for an answer. The remaining time comes from the call's own clock.
   * @default - the clock of the call
   */
  readonly patienceClock?: Clock | undefined;

  /**
   * Rolls back anything that a finished attempt left open, or a claim won after its call ended. For the same stores as
   * `handlerFailed`.
   */
  readonly handlerOver?: ((token: string) => void) | undefined;
}

/** The first values of a record. */
interface RecordBeginning extends Succession {
  readonly recordKey: string;
  readonly token: string;
  readonly fingerprint: string;
  /** Epoch seconds; absent means never: then the attempt's end must be resolved. */
  readonly expiresAt?: number | undefined;
}

export interface Claim extends RecordBeginning {
  /** Epoch ms. */
  readonly leaseEndsAt: number;
}

export type ClaimAnswer =
  | {
      readonly won: true;
      /** The database's own clock (epoch ms), if it reports it. */
      readonly serverTimeMs?: number;
    }
  | {
      readonly won: false;
      /** The record that refused the claim; absent if there is none, or not any more. */
      readonly record: IdempotencyRecord | undefined;
    };

/** The new end of a claim. */
export type Renewal = Pick<Claim, "recordKey" | "token" | "leaseEndsAt" | "expiresAt">;

export type RenewAnswer =
  | { readonly renewed: true }
  | { readonly renewed: false; readonly record: IdempotencyRecord | undefined };

/** The effects of a finished state, applied in the transaction that records it. */
export interface Effects<Write = unknown> {
  readonly writes: readonly Write[];
  readonly messages: readonly StoredMessage[];
}

interface RecordFinish<Write> extends Effects<Write> {
  readonly recordKey: string;
  readonly token: string;
  /** Epoch ms. */
  readonly now: number;
  /** Epoch seconds; absent means never. */
  readonly expiresAt?: number;
  /** Encoded by core/outcome.ts. */
  readonly result?: string;
  /** Encoded by core/verify.ts. If absent, the record keeps its evidence. */
  readonly evidence?: string | undefined;
  /** How long a store may wait for another service before it writes the record, in ms. */
  readonly patienceMs?: number | undefined;
}

export interface Settlement<Write = unknown> extends RecordFinish<Write> {
  readonly state: "completed" | "failed" | "released" | "held";
  /** The claim had no expiry, so it is among the unknown outcomes: this end removes it. */
  readonly isListed?: boolean | undefined;
  /** The record loses its steps: a finished operation is never resumed. */
  readonly dropsSteps?: boolean | undefined;
}

/**
 * A list of writes. A store whose writes can be functions, such as SQL within its transaction, also accepts one function
 * without a list.
 */
export type WritesOf<Write> =
  | readonly Write[]
  | (Write extends (...given: never[]) => unknown ? Write : never);

export interface StepChange<Write = unknown> {
  readonly recordKey: string;
  readonly token: string;
  readonly name: string;
  readonly step: Omit<StoredStep, "result">;
  /** Encoded by core/outcome.ts. */
  readonly result?: string | undefined;
  /** When a result outside the record may be deleted (epoch seconds). */
  readonly resultExpiresAt: number;
  /** The value that the record must have under this name; absent means no step. */
  readonly seen?: StoredStep | undefined;
  /** The record has no steps yet. */
  readonly isFirst: boolean;
  /** The end of the lease, as far as it is known (epoch ms). */
  readonly leaseEndsAt: number;
  readonly writes: readonly Write[];
}

export interface Insertion<Write = unknown> extends RecordFinish<Write>, RecordBeginning {
  readonly state: "completed" | "failed";
  readonly expiresAt: number;
}

export type SettleAnswer =
  | {
      readonly settled: true;
      /** The step's result is too large to be kept: its size in bytes. */
      readonly lostBytes?: number | undefined;
    }
  | { readonly settled: false; readonly record: IdempotencyRecord | undefined };

/** Who erases, and why. Both are stored with the record, 256 characters at most each. No payloads, no secrets. */
export interface Erasure extends ByWhom {}

/**
 * `state` is the reason why nothing was erased: the key isn't finished, or there is none. `waiting`: the record has unsent
 * messages with the data in them. Send or drop them first.
 */
export type EraseAnswer =
  | {
      readonly erased: true;
      /** The record key of a fork of this record. It has copies of the results of steps: erase it too. */
      readonly forkedTo?: string | undefined;
    }
  | { readonly erased: false; readonly state: State | "absent" | "waiting" };

/** Erases the data that a store keeps outside a record. Does nothing for other stores. */
export type EraseApart = (store: Store<never>, recordKey: string, seen: IdempotencyRecord) => Promise<void>;

/** One erasure, as a store passes it on to the stores that it wraps. */
export interface Erasing {
  readonly recordKey: string;
  readonly erasure: Erasure;
  readonly clock: Clock;
  readonly random: Random;
  readonly apart: EraseApart;
  /** The erasure also deletes what is in the bucket of the handler's store. */
  readonly reachesBucket?: boolean;
  /**
   * The record that counts, if several stores know the key.
   * @default - the store's own
   */
  readonly counted?: IdempotencyRecord;
}

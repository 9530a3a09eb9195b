/**
 * The port between the protocol and a database. A store needs two moves: insert if absent, and change if it still is what
 * was seen. All policy is in the engine, also the rule of who may claim (`judge` in core/record.ts). Every adapter passes
 * the contract suite of `onceonly/testing` unchanged.
 *
 * The `version` of a record follows from its steps, by `versionOf` in core/record.ts: the first step raises it, whatever drops the
 * steps lowers it again, and nothing else changes it. So code that doesn't know steps refuses the record.
 *
 * Promises of every store: each method is one atomic decision. A method that rejects with StoreUnavailableError may or may
 * not have been applied, and can be repeated with the same arguments.
 */
import type { ByWhom } from "./by-whom.ts";
import type { Clock, Random } from "./clock.ts";
import type { StoredMessage } from "./messages/outgoing-message.ts";
import type { IdempotencyRecord, State, StoredStep, Succession } from "./record.ts";
import type { UnknownOutcome } from "./unknown-outcome.ts";

export interface Store<Write = unknown> {
  /**
   * Without `seen`, inserts the record if there is none. With `seen`, replaces the record if it still is what was seen:
   * same token, state and lease end. Then it has the values of `claim`, no result, and its steps and its evidence only with
   * `keepsSteps`.
   */
  claim(claim: Claim, seen?: IdempotencyRecord): Promise<ClaimAnswer>;

  /**
   * Moves the record on, if its token is `settlement.token` and it is in progress; in one transaction with
   * `writes`. A record that this token already moved to the same state counts as settled (an answer was lost).
   * `messages` are kept with the record until an Outbox (core/messages/outbox.ts) marks them as sent; it does not expire before.
   * @throws TransactionConditionError when one of `writes` was refused; then nothing is applied.
   */
  settle(settlement: Settlement<Write>): Promise<SettleAnswer>;

  /**
   * Prolongs a claim, if its token is `renewal.token`, it is in progress, and its lease ends no later than that of the
   * renewal. So a copy that arrives late shortens no lease. A repetition counts as renewed. Without `expiresAt` the record's own
   * stays. A record without an expiry refuses a renewal that has one: a step that began has taken the expiry meanwhile.
   */
  renew(renewal: Renewal): Promise<RenewAnswer>;

  /**
   * Writes one step into the record, in one transaction with `writes`. The conditions are those of `settle`, and that the step
   * still is `change.seen`. The lease then ends a millisecond later, so that nobody takes over a record without having
   * seen its steps. A step that is as given already counts as written (an answer was lost). A step that was begun, or is
   * tracked, takes the expiry from its record, which is listed from then on, until it ends.
   * A store without this method has no steps.
   * @throws TransactionConditionError as `settle`.
   */
  writeStep?(change: StepChange<Write>): Promise<SettleAnswer>;

  /**
   * Makes a finished record without a claim, in one transaction with `writes`, under the condition of `claim`. A record
   * that this token already finished so counts as settled; one that this token claimed is settled, and its attempt and its
   * steps stay.
   * @throws TransactionConditionError as `settle`.
   */
  insert(insertion: Insertion<Write>, seen?: IdempotencyRecord): Promise<SettleAnswer>;

  /** Reads a record, whatever its state or age. A read that is not consistent may be stale. */
  find(recordKey: string, read: { consistent: boolean }): Promise<IdempotencyRecord | undefined>;

  /** Loads a result that is in an item of its own; `undefined` if it is gone. */
  loadResult(address: string): Promise<string | undefined>;

  /**
   * Refuses effects that can never be accepted (shape, size, count), before any I/O.
   * @throws CommitInvalidError, OutboxTransactionTooLargeError
   */
  checkEffects(effects: Effects<Write>): void;

  /**
   * Lists what nobody has settled since before `before` (epoch ms). That is held keys, attempts whose claim has no expiry and
   * whose lease has ended, and released keys that have no expiry. Pages are read as the caller goes on. A record of the last moments may be missing.
   * A store without this method cannot keep what is held: `whenAbandoned` of `hold` or `verify` is refused with it.
   */
  readonly unknownOutcomes?:
    | ((query: { readonly before: number }) => AsyncIterable<UnknownOutcome>)
    | undefined;

  /**
   * Erases a finished record's result in each store that this one is made of, and in what it remembers. A store without this
   * method stands alone: `insert` over a finished record leaves nothing of the former result.
   */
  readonly erase?: ((erasing: Erasing) => Promise<EraseAnswer>) | undefined;

  /**
   * What the handler of the claim with this token threw. Only of a store whose claim begins a transaction in which the handler runs.
   * Nothing of that transaction stays, so that its connection is free for what the engine asks then.
   * @throws StoreUnavailableError when the database ended that transaction, so that the call may be made again
   */
  readonly handlerFailed?: ((error: unknown, token: string) => void | Promise<void>) | undefined;

  /**
   * How long a call waits for one answer, in ms, unless its own deadline comes first. Then it fails with a
   * StoreUnavailableError. For a store whose client may never answer once its connection is lost.
   * @default - as long as it takes
   */
  readonly patienceMs?: number | undefined;

  /**
   * The clock by which a call waits for an answer. How much time is left comes from the call's own clock.
   * @default - the clock of the call
   */
  readonly patienceClock?: Clock | undefined;

  /** Rolls back whatever an attempt that is over left open, or a claim that is won after its call has ended. The same stores have it. */
  readonly handlerOver?: ((token: string) => void) | undefined;
}

/** What a record begins with. */
interface RecordBeginning extends Succession {
  readonly recordKey: string;
  readonly token: string;
  readonly fingerprint: string;
  /** Epoch seconds; absent means never: then somebody has to say how the attempt ended. */
  readonly expiresAt?: number | undefined;
}

export interface Claim extends RecordBeginning {
  /** Epoch ms. */
  readonly leaseEndsAt: number;
}

export type ClaimAnswer =
  | {
      readonly won: true;
      /** The database's own clock (epoch ms), where it tells. */
      readonly serverTimeMs?: number;
    }
  | {
      readonly won: false;
      /** The record that refused; absent if there is none, or none any more. */
      readonly record: IdempotencyRecord | undefined;
    };

/** The new end of a claim. */
export type Renewal = Pick<Claim, "recordKey" | "token" | "leaseEndsAt" | "expiresAt">;

export type RenewAnswer =
  | { readonly renewed: true }
  | { readonly renewed: false; readonly record: IdempotencyRecord | undefined };

/** What a finished state brings about, in the transaction that records it. */
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
  /** Encoded by core/verify.ts. Absent: what the record has stays. */
  readonly evidence?: string | undefined;
}

export interface Settlement<Write = unknown> extends RecordFinish<Write> {
  readonly state: "completed" | "failed" | "released" | "held";
  /** The claim had no expiry, so that it is among the unknown outcomes: this end takes it out of them. */
  readonly isListed?: boolean | undefined;
  /** The record loses its steps: nobody resumes what is finished. */
  readonly dropsSteps?: boolean | undefined;
}

/** A list of writes. A store with functions for writes, such as SQL within its transaction, takes one function without a list too. */
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
  /** When a result outside of the record may be deleted (epoch seconds). */
  readonly resultExpiresAt: number;
  /** What the record is to have under this name; absent means no step. */
  readonly seen?: StoredStep | undefined;
  /** The record has no steps yet. */
  readonly isFirst: boolean;
  /** The end of the lease as far as it is known (epoch ms). */
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
      /** The result of a step is too large to be kept, and has so many bytes. */
      readonly lostBytes?: number | undefined;
    }
  | { readonly settled: false; readonly record: IdempotencyRecord | undefined };

/** Who erases, and why: stored with the record, 256 characters at most each. No payloads, no secrets. */
export interface Erasure extends ByWhom {}

/**
 * `state` is why nothing was erased: the key is not over, or there is none. `waiting`: messages of the record are not sent yet,
 * and hold what it is about: send or drop them first.
 */
export type EraseAnswer =
  | { readonly erased: true }
  | { readonly erased: false; readonly state: State | "absent" | "waiting" };

/** Erases what a store keeps of a record outside of it. Other stores are left alone. */
export type EraseApart = (store: Store<never>, recordKey: string, seen: IdempotencyRecord) => Promise<void>;

/** One erasure, as a store hands it on to those behind it. */
export interface Erasing {
  readonly recordKey: string;
  readonly erasure: Erasure;
  readonly clock: Clock;
  readonly random: Random;
  readonly apart: EraseApart;
  /**
   * The record that counts, where the store is one of several that know the key.
   * @default - the store's own
   */
  readonly counted?: IdempotencyRecord;
}

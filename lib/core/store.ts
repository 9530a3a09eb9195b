/**
 * The port between the protocol and a database. A store keeps records and decides races; all policy is
 * in the engine. Every adapter passes the contract suite of `onceonly/testing` unchanged.
 *
 * Promises of every store: each method is one atomic decision; a method that rejects with
 * StoreUnavailableError may or may not have been applied, and repeating it with the same arguments is safe.
 */
import type { StoredMessage } from "./outgoing-message.ts";
import type { IdempotencyRecord, Seeker } from "./record.ts";

export interface Store<Write = unknown> {
  /**
   * Wins if there is no record, or `isClaimable` (core/record.ts) holds; then sets token, fingerprint,
   * lease and expiry, adds 1 to attempt, and keeps the steps of the attempt before.
   * With `expired`, wins only if the record's token is still that record's, and it is still expired: then it
   * is reset whole, and attempt goes on from there.
   */
  claim(claim: Claim, expired?: IdempotencyRecord): Promise<ClaimAnswer>;

  /**
   * Moves the record on, if its token is `settlement.token` and it is in progress; in one transaction with
   * `writes`. A record that this token already moved to the same state counts as settled (an answer was lost).
   * `messages` are kept with the record until an Outbox (core/outbox.ts) marks them as sent; it does not expire before.
   * @throws TransactionConditionError when one of `writes` was refused; then nothing is applied.
   */
  settle(settlement: Settlement<Write>): Promise<SettleAnswer>;

  /**
   * Inserts a finished record without a claim, in one transaction with `writes`, under the condition of
   * `claim`, or if this token holds the claim. A record this token already finished so counts as settled.
   * @throws TransactionConditionError as `settle`.
   */
  insert(insertion: Insertion<Write>, expired?: IdempotencyRecord): Promise<SettleAnswer>;

  /** Reads a record, whatever its state or age. A read that is not consistent may be stale. */
  find(recordKey: string, read: { consistent: boolean }): Promise<IdempotencyRecord | undefined>;

  /** Loads a result that is in an item of its own; `undefined` if it is gone. */
  loadResult(address: string): Promise<string | undefined>;

  /**
   * Refuses effects that can never be accepted (shape, size, count), before any I/O.
   * @throws CommitInvalidError, OutboxTransactionTooLargeError
   */
  checkEffects(effects: Effects<Write>): void;
}

export interface Claim extends Seeker {
  readonly recordKey: string;
  /** Epoch ms. */
  readonly leaseEndsAt: number;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

export type ClaimAnswer =
  | {
      readonly won: true;
      readonly attempt: number;
      /** The lease of a former attempt had ended. */
      readonly takenOver: boolean;
      /** The database's own clock (epoch ms), where it tells. */
      readonly serverTimeMs?: number;
    }
  | {
      readonly won: false;
      /** The record that refused; absent if it is gone by now. */
      readonly record: IdempotencyRecord | undefined;
    };

/** What a finished state brings about, in the transaction that records it. */
export interface Effects<Write = unknown> {
  readonly writes: readonly Write[];
  readonly messages: readonly StoredMessage[];
}

interface Finish<Write> extends Effects<Write> {
  readonly recordKey: string;
  readonly token: string;
  /** Epoch ms. */
  readonly now: number;
  /** Epoch seconds; absent means never. */
  readonly expiresAt?: number;
  /** Encoded by core/result.ts. */
  readonly result?: string;
}

export interface Settlement<Write = unknown> extends Finish<Write> {
  readonly state: "completed" | "failed" | "released" | "held";
}

export interface Insertion<Write = unknown> extends Finish<Write>, Seeker {
  readonly state: "completed" | "failed";
  readonly expiresAt: number;
}

export type SettleAnswer =
  | { readonly settled: true }
  | { readonly settled: false; readonly record: IdempotencyRecord | undefined };

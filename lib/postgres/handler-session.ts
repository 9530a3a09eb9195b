/**
 * The session whose transaction a handler runs in. Notices when it's gone, although the handler's client may wait for it
 * forever.
 */
import type { StoreUnavailableError } from "../core/errors.ts";
import type { IdempotencyRecord } from "../core/record.ts";
import type { Claim } from "../core/store.ts";
import { sqlStateOf } from "./failures.ts";
import type { OpenTransaction } from "./open-transaction.ts";
import { PATIENCE_MS } from "./postgres-store.ts";

/**
 * How long a server may be silent on all connections. Any shorter would end long handlers that occupy every connection of their
 * pool.
 */
const SILENCE_MS = 900_000;

/** DSQL shows no sessions, but it ends a transaction after five minutes. */
const DSQL_TRANSACTION_MS = 300_000;

interface SessionParts<Client> {
  /** The claim that began the transaction. */
  readonly claim: Claim;
  readonly seen: IdempotencyRecord | undefined;
  readonly transaction: OpenTransaction<Client>;
  readonly began: string;
  /** Checks over another connection whether the session has ended; absent on DSQL. */
  readonly isGone: (() => Promise<boolean>) | undefined;
  readonly failure: (cause: unknown) => StoreUnavailableError;
}

export class HandlerSession<Client> {
  readonly claim: Claim;
  readonly seen: IdempotencyRecord | undefined;
  readonly transaction: OpenTransaction<Client>;
  readonly began: string;
  /** The transaction is over. The claim stays, for a final error. */
  isOver = false;
  /** Why the session is lost; absent while it isn't known to be. */
  lostBy: StoreUnavailableError | undefined;
  /** Resolves to `lostBy`. */
  readonly lost: Promise<StoreUnavailableError>;
  #resolveLost!: (reason: StoreUnavailableError) => void;
  readonly #isGone: SessionParts<Client>["isGone"];
  readonly #failure: SessionParts<Client>["failure"];
  /** The end of the lease when the server last answered, and when the last check began (epoch ms). It advances with time. */
  #answeredAt: number;
  #checkedAt = Number.NEGATIVE_INFINITY;

  constructor({ claim, seen, transaction, began, isGone, failure }: SessionParts<Client>) {
    this.claim = claim;
    this.seen = seen;
    this.transaction = transaction;
    this.began = began;
    this.#isGone = isGone;
    this.#failure = failure;
    this.#answeredAt = claim.leaseEndsAt;
    this.lost = new Promise((resolve) => {
      this.#resolveLost = resolve;
    });
  }

  /**
   * Checks whether the session is still there.
   * @param leaseEndsAt of the renewal that triggered the check
   */
  look(leaseEndsAt: number): void {
    const silentMs = leaseEndsAt - this.#answeredAt;
    if (silentMs >= (this.#isGone ? SILENCE_MS : DSQL_TRANSACTION_MS))
      this.#lose(`the server has not answered for ${silentMs / 60_000} minutes`);
    else if (this.#isGone && leaseEndsAt - this.#checkedAt >= PATIENCE_MS)
      void this.#check(this.#isGone, leaseEndsAt);
  }

  async rollBack(): Promise<void> {
    this.isOver = true;
    const lost = await this.transaction.rollback();
    if (lost) this.#settleLost(lost.lostBy);
  }

  async #check(isGone: () => Promise<boolean>, leaseEndsAt: number): Promise<void> {
    this.#checkedAt = leaseEndsAt;
    try {
      if (await isGone()) return this.#lose("the server has ended its session");
    } catch (error) {
      // This isn't an answer from the server: the pool may just have had no free connection.
      if (sqlStateOf(error) === undefined) return;
    } finally {
      this.#checkedAt = Number.NEGATIVE_INFINITY;
    }
    this.#answeredAt = leaseEndsAt;
  }

  #lose(reason: string): void {
    // The session of a commit under way ends with it.
    if (this.isOver) return;
    this.#settleLost(Object.assign(new Error(reason), { code: "SESSION_LOST" }));
    void this.rollBack();
  }

  #settleLost(cause: unknown): void {
    this.lostBy ??= this.#failure(cause);
    this.#resolveLost(this.lostBy);
  }
}

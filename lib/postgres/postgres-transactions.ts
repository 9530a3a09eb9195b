/** The store of handlers that run within a transaction: record, and all that the handler writes, are committed together. */
import { isStoreFailure } from "../core/error-code.ts";
import { CommitInvalidError, ExecutionInProgressError, type StoreUnavailableError } from "../core/errors.ts";
import type { Execution } from "../core/execution.ts";
import type { IdempotencyRecord } from "../core/record.ts";
import type {
  Claim,
  ClaimAnswer,
  Effects,
  Insertion,
  RenewAnswer,
  Renewal,
  SettleAnswer,
  Settlement,
  Store,
} from "../core/store.ts";
import { answerOf, recordOf, type SqlAnswer } from "./answers.ts";
import { firstStatement } from "./dialect.ts";
import { isLostConnection, refusedAtCommit, sqlStateOf, storeFailure } from "./failures.ts";
import { type OpenTransaction, openTransaction } from "./open-transaction.ts";
import { checkTransactions, type PostgresTransactionsOptions } from "./options.ts";
import { PATIENCE_MS, PostgresStore } from "./postgres-store.ts";
import type { SqlClient } from "./sql-client.ts";
import type { SqlStatement } from "./statement.ts";
import { type RecordStatements, recordStatements } from "./statements.ts";
import { brokenBy, brokenTransaction } from "./writes.ts";

/** A claim, and the transaction that made it. */
interface Session<Client> {
  readonly claim: Claim;
  readonly seen: IdempotencyRecord | undefined;
  readonly transaction: OpenTransaction<Client>;
  readonly began: string;
  /** The transaction is over. The claim stays, for a final error. */
  isOver?: boolean;
}

const DEFAULT_WAIT_SECONDS = 3;

/**
 * A store whose claim begins a transaction, in which the handler runs: `clientOf(idempotency)` is its client. The commit
 * of the record is that of all that the handler wrote. An answer that is not stored, and an error, roll back both. An error
 * that is final is recorded alone, and what the handler wrote before it is undone.
 *
 * The handler runs once for each call. A serialization failure (40001), a deadlock or a lost connection rolls back, at the
 * commit or at a statement of the handler. The call fails with a StoreUnavailableError that may be retried (`STORE_UNAVAILABLE`). A deferred
 * constraint fails with a TransactionConditionError (`TRANSACTION_CONDITION`). Other calls with the key wait for the row, and replay. The
 * transaction and its locks last as long as the handler, at most until its `signal` aborts. Steps, holds, `writes` and the optimistic mode
 * are for a PostgresStore.
 */
export class PostgresTransactions<Client = unknown> implements Store<never> {
  readonly #client: SqlClient<Client>;
  readonly #table: string;
  readonly #statements: RecordStatements;
  readonly #outside: PostgresStore<Client>;
  readonly #first: string | undefined;
  /**
   * By the tokens of their claims, not by their keys. A server may end a transaction without a word, and let a retry in. Then this
   * process runs two attempts at one key, and neither may get the client of the other.
   */
  readonly #sessions = new Map<string, Session<Client>>();
  /** The tokens of claims under way. A call may end before its claim is answered. */
  readonly #claiming = new Set<string>();
  /** @internal */
  readonly patienceMs: number;

  /** @throws InvalidOptionError (`INVALID_OPTION`) */
  constructor(options: PostgresTransactionsOptions<Client>) {
    checkTransactions(options);
    const { waitSeconds = DEFAULT_WAIT_SECONDS, ...given } = options;
    this.#outside = new PostgresStore(given);
    this.#client = given.client;
    this.#table = given.table as string;
    this.#statements = recordStatements({ ...given, table: this.#table });
    this.#first = firstStatement(given.dialect, Math.ceil(waitSeconds * 1000));
    this.patienceMs = PATIENCE_MS + waitSeconds * 1000;
  }

  /**
   * The client of the transaction in which a handler runs. It is closed when the handler is over, has committed, or is aborted.
   * @throws CommitInvalidError (`COMMIT_INVALID`) where the handler has no transaction
   */
  clientOf(execution: Pick<Execution, "signal">): Client {
    // Also of an execution that another copy of this package has made.
    const { token = "" } = execution as { readonly token?: string };
    const session = this.#sessions.get(token);
    if (session === undefined || session.isOver) {
      throw new CommitInvalidError(
        "the handler has no transaction: it is over, or the handler runs with another store, in the optimistic mode, or by `whenStoreFails`",
      );
    }
    const { signal } = execution;
    const end = () => void this.#rollBack(session);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
    return session.transaction.client;
  }

  async claim(claim: Claim, seen?: IdempotencyRecord): Promise<ClaimAnswer> {
    const { token } = claim;
    this.#claiming.add(token);
    try {
      return await this.#claim(claim, seen);
    } finally {
      this.#claiming.delete(token);
    }
  }

  async #claim(claim: Claim, seen: IdempotencyRecord | undefined): Promise<ClaimAnswer> {
    const { recordKey, token } = claim;
    const transaction = await this.#begin();
    try {
      const {
        serverTimeMs,
        record,
        began = "",
      } = await this.#run(this.#statements.claim(claim, seen), transaction);
      if (serverTimeMs !== undefined) {
        if (!this.#claiming.has(token)) throw this.#failure(new Error("the call ended before its claim"));
        this.#sessions.set(token, { claim, seen, transaction, began });
        return { won: true, serverTimeMs };
      }
      await transaction.rollback();
      return { won: false, record: record ? recordOf(record) : await this.#find(recordKey) };
    } catch (error) {
      await transaction.rollback();
      if (!isStoreFailure(error) || error.failure !== "conflict") throw error;
      // Somebody else is within a transaction, which nobody sees into.
      if (sqlStateOf(error.cause) === "55P03") throw new ExecutionInProgressError(claim.leaseEndsAt, 1);
      return { won: false, record: await this.#find(recordKey) };
    }
  }

  async settle(settlement: Settlement<never>): Promise<SettleAnswer> {
    const { token, state } = settlement;
    const session = this.#sessions.get(token);
    const isOver = () => rolledBack(this.#failure(new Error("it ended before the handler did")));
    if (state === "completed") {
      if (session === undefined || session.isOver) throw isOver();
      return this.#commit(session, settlement);
    }
    if (session) await this.#rollBack(session);
    this.#sessions.delete(token);
    if (state !== "failed") return { settled: true };
    if (session === undefined) throw isOver();
    const { expiresAt = 0 } = settlement;
    const { claim, seen } = session;
    return this.#outside
      .insert({ ...claim, ...settlement, state, expiresAt }, seen)
      .catch((error: unknown) => {
        throw isStoreFailure(error) ? rolledBack(error) : error;
      });
  }

  /** Nobody sees the claim, and its row is locked. */
  async renew({ token }: Renewal): Promise<RenewAnswer> {
    const session = this.#sessions.get(token);
    return session && !session.isOver ? { renewed: true } : { renewed: false, record: undefined };
  }

  insert(insertion: Insertion<never>, seen?: IdempotencyRecord): Promise<SettleAnswer> {
    return this.#outside.insert(insertion, seen);
  }

  find(recordKey: string, _read: { consistent: boolean }): Promise<IdempotencyRecord | undefined> {
    return this.#find(recordKey);
  }

  loadResult(address: string): Promise<string | undefined> {
    return this.#outside.loadResult(address);
  }

  async handlerFailed(error: unknown, token: string): Promise<void> {
    const session = this.#sessions.get(token);
    const isOurs = session?.isOver === true;
    const lost = await session?.transaction.rollback();
    const action = "the handler's transaction";
    if (sqlStateOf(error) !== undefined) {
      const failure = storeFailure(error, action, this.#table);
      if (failure.failure !== "refused") throw rolledBack(failure);
    }
    // Whatever the handler threw: its transaction was over, and this store had not ended it.
    if (lost && !isOurs) throw rolledBack(storeFailure(lost.lostBy, action, this.#table));
  }

  handlerOver(token: string): void {
    this.#claiming.delete(token);
    const session = this.#sessions.get(token);
    if (session) void this.#rollBack(session);
    this.#sessions.delete(token);
  }

  checkEffects(effects: Effects<never>): void {
    if (effects.writes.length > 0) {
      throw new CommitInvalidError(
        "a commit within a transaction takes no `writes`: write by `clientOf(idempotency)` before the commit",
      );
    }
    this.#outside.checkEffects(effects);
  }

  async #commit(session: Session<Client>, settlement: Settlement<never>): Promise<SettleAnswer> {
    const { transaction, claim, began } = session;
    session.isOver = true;
    transaction.close();
    try {
      const { serverTimeMs } = await this.#run(this.#statements.settle(settlement, { began }), transaction);
      if (serverTimeMs === undefined) throw brokenTransaction(undefined, "the handler");
    } catch (error) {
      await transaction.rollback();
      const broken = brokenBy(error, "the handler");
      if (broken) throw broken;
      throw isStoreFailure(error) ? rolledBack(error) : error;
    }
    try {
      await transaction.commit();
      return { settled: true };
    } catch (error) {
      const failure = this.#failure(error);
      if (failure.failure === "refused") throw refusedAtCommit(error);
      // The answer may be lost of a commit that was applied.
      const record = failure.failure === "unreachable" ? await this.#lookAfter(claim) : undefined;
      if (record?.token === claim.token && record.state === "completed") return { settled: true };
      throw rolledBack(failure);
    }
  }

  /** A retry tells where nobody else can: it waits for the row, and then replays or runs. */
  async #lookAfter({ recordKey }: Claim): Promise<IdempotencyRecord | undefined> {
    return this.#find(recordKey).catch(() => undefined);
  }

  async #rollBack(session: Session<Client>): Promise<void> {
    session.isOver = true;
    await session.transaction.rollback();
  }

  /** A pool may hand out a connection that was lost while it idled. */
  async #begin(): Promise<OpenTransaction<Client>> {
    for (let tries = 1; ; tries++) {
      try {
        return await openTransaction(this.#client, this.#first);
      } catch (error) {
        const failure = storeFailure(error, "BEGIN", this.#table);
        if (tries > 1 || !isLostConnection(failure)) throw failure;
      }
    }
  }

  async #run(
    { action, text, values }: SqlStatement,
    transaction: OpenTransaction<Client>,
  ): Promise<SqlAnswer> {
    try {
      const [row] = await transaction.query(text, values);
      return answerOf(row);
    } catch (error) {
      throw storeFailure(error, action, this.#table);
    }
  }

  #find(recordKey: string): Promise<IdempotencyRecord | undefined> {
    return this.#outside.find(recordKey, { consistent: true });
  }

  #failure(error: unknown): StoreUnavailableError {
    return storeFailure(error, "COMMIT", this.#table);
  }
}

function rolledBack(failure: StoreUnavailableError): StoreUnavailableError {
  failure.isRolledBack = true;
  return failure;
}

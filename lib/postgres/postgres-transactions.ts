/** The store of handlers that run within a transaction: the record and everything the handler writes are committed together. */
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
import { HandlerSession } from "./handler-session.ts";
import { type OpenTransaction, openTransaction } from "./open-transaction.ts";
import { checkTransactions, type PostgresTransactionsOptions } from "./options.ts";
import { PATIENCE_MS, PostgresStore } from "./postgres-store.ts";
import type { SqlClient } from "./sql-client.ts";
import type { SqlStatement } from "./statement.ts";
import { type RecordStatements, recordStatements } from "./statements.ts";
import { brokenBy, brokenTransaction } from "./writes.ts";

const DEFAULT_WAIT_SECONDS = 3;

/**
 * A store whose claim begins a transaction in which the handler runs; `clientOf(idempotency)` returns its client. Committing the
 * record commits everything the handler wrote. A response that isn't stored, or an error, rolls back both. A final error is
 * recorded, but what the handler wrote before it is undone.
 *
 * The handler runs once for each call. A serialization failure (40001), a deadlock or a lost connection, at the commit or at a
 * statement of the handler, rolls back. The call fails with a StoreUnavailableError that can be retried (`STORE_UNAVAILABLE`). A
 * deferred constraint fails with a TransactionConditionError (`TRANSACTION_CONDITION`). Other calls with the key wait for the
 * row, and replay. The transaction and its locks last as long as the handler, at most until its `signal` aborts. Steps, holds,
 * `writes` and the optimistic mode need a PostgresStore.
 */
export class PostgresTransactions<Client = unknown> implements Store<never> {
  readonly #client: SqlClient<Client>;
  readonly #table: string;
  readonly #statements: RecordStatements;
  readonly #outside: PostgresStore<Client>;
  readonly #first: string | undefined;
  /**
   * Keyed by the tokens of the claims, not by their keys. A server may end a transaction silently and let a retry in. Then this
   * process runs two attempts at one key, and neither may get the other's client.
   */
  readonly #sessions = new Map<string, HandlerSession<Client>>();
  /** Tokens of claims under way. A call may end before its claim is answered. */
  readonly #claiming = new Set<string>();
  /** @internal */
  readonly patienceMs: number;
  /** @internal */
  readonly usesPool = true;

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
   * The client of the transaction that a handler runs in. It is closed when the handler ends, has committed, or is aborted.
   * @throws CommitInvalidError (`COMMIT_INVALID`) if the handler has no transaction
   */
  clientOf(execution: Pick<Execution, "signal">): Client {
    // Also supports an execution made by another copy of this package.
    const { token = "" } = execution as { readonly token?: string };
    const session = this.#sessions.get(token);
    if (session === undefined || session.isOver) {
      throw new CommitInvalidError(
        "the handler has no transaction: it has ended, or the handler runs with a different store, in optimistic mode, or because of `whenStoreFails`",
      );
    }
    const { signal } = execution;
    const end = () => void session.rollBack();
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
        pid,
      } = await this.#run(this.#statements.claim(claim, seen), transaction);
      if (serverTimeMs !== undefined) {
        if (!this.#claiming.has(token)) throw this.#failure(new Error("the call ended before its claim"));
        const isGone = pid === undefined ? undefined : () => this.#isGone(pid, began);
        const failure = (cause: unknown) =>
          rolledBack(storeFailure(cause, "the handler's transaction", this.#table));
        this.#sessions.set(token, new HandlerSession({ claim, seen, transaction, began, isGone, failure }));
        return { won: true, serverTimeMs };
      }
      await transaction.rollback();
      return { won: false, record: record ? recordOf(record) : await this.#find(recordKey) };
    } catch (error) {
      await transaction.rollback();
      if (!isStoreFailure(error) || error.failure !== "conflict") throw error;
      // Another call is within a transaction, whose changes are not visible yet.
      if (sqlStateOf(error.cause) === "55P03") throw new ExecutionInProgressError(claim.leaseEndsAt, 1);
      return { won: false, record: await this.#find(recordKey) };
    }
  }

  async settle(settlement: Settlement<never>): Promise<SettleAnswer> {
    const { token, state } = settlement;
    const session = this.#sessions.get(token);
    const isOver = () => rolledBack(this.#failure(new Error("the transaction ended before the handler did")));
    if (state === "completed") {
      if (session === undefined || session.isOver) throw isOver();
      return this.#commit(session, settlement);
    }
    await session?.rollBack();
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

  /**
   * Writes nothing, because the row is locked and no other transaction sees the claim. It only starts a check of the session,
   * without waiting for the answer: a busy pool may have no connection for it.
   */
  async renew({ token, leaseEndsAt }: Renewal): Promise<RenewAnswer> {
    const session = this.#sessions.get(token);
    session?.look(leaseEndsAt);
    return session && !session.isOver ? { renewed: true } : { renewed: false, record: undefined };
  }

  handlerLost(token: string): Promise<Error> | undefined {
    return this.#sessions.get(token)?.lost;
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
    if (session?.lostBy) throw session.lostBy;
    const isOurs = session?.isOver === true;
    const lost = await session?.transaction.rollback();
    const action = "the handler's transaction";
    if (sqlStateOf(error) !== undefined) {
      const failure = storeFailure(error, action, this.#table);
      if (failure.failure !== "refused") throw rolledBack(failure);
    }
    // Regardless of what the handler threw: its transaction had ended, and this store had not ended it.
    if (lost && !isOurs) throw rolledBack(storeFailure(lost.lostBy, action, this.#table));
  }

  handlerOver(token: string): void {
    this.#claiming.delete(token);
    const session = this.#sessions.get(token);
    void session?.rollBack();
    this.#sessions.delete(token);
  }

  checkEffects(effects: Effects<never>): void {
    if (effects.writes.length > 0) {
      throw new CommitInvalidError(
        "a commit inside a transaction doesn't accept `writes`: write with `clientOf(idempotency)` before the commit",
      );
    }
    this.#outside.checkEffects(effects);
  }

  async #commit(session: HandlerSession<Client>, settlement: Settlement<never>): Promise<SettleAnswer> {
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
      // The commit may have been applied although its answer was lost.
      const record = failure.failure === "unreachable" ? await this.#lookAfter(claim) : undefined;
      if (record?.token === claim.token && record.state === "completed") return { settled: true };
      throw rolledBack(failure);
    }
  }

  /** If this read fails too, a retry finds out: it waits for the row, and then replays or runs. */
  async #lookAfter({ recordKey }: Claim): Promise<IdempotencyRecord | undefined> {
    return this.#find(recordKey).catch(() => undefined);
  }

  async #isGone(pid: number, began: string): Promise<boolean> {
    const { text, values } = this.#statements.isGone(pid, began);
    const [row] = await this.#client.query(text, values);
    return answerOf(row).isGone === true;
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

/** The PostgreSQL store: every decision is one conditional statement. All policy is in the engine. */
import { hasCode, isStoreFailure } from "../core/error-code.ts";
import { isOnceonlyError } from "../core/errors.ts";
import { type IdempotencyRecord, isClaimOf, isKnownVersion } from "../core/record.ts";
import { readResultAddress } from "../core/result-address.ts";
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
import { type UnknownOutcome, unknownOutcomeOf } from "../core/unknown-outcome.ts";
import { answerOf, type JsonRecord, recordOf, type SqlAnswer, textOf } from "./answers.ts";
import { firstStatement, type SqlDialect } from "./dialect.ts";
import { commitFailure, storeFailure } from "./failures.ts";
import { checkReap, checkStore, type PostgresStoreOptions } from "./options.ts";
import { roomOf, storedMessages } from "./room.ts";
import { runAlone } from "./run-alone.ts";
import type { SqlClient, SqlRow, SqlTransaction } from "./sql-client.ts";
import type { SqlStatement } from "./statement.ts";
import { type RecordStatements, recordStatements } from "./statements.ts";
import { applyWrites, brokenBy, brokenTransaction, checkWrites, type PostgresWrite } from "./writes.ts";

const BATCH_SIZE = 1000;

/** Longer than any statement of the store needs. A client whose connection was lost may never answer. */
export const PATIENCE_MS = 30_000;

/** Before any expiry, and after any. */
const [EARLIEST, LATEST] = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];

/** How many unknown outcomes are read at once. */
const PAGE = 100;

type SqlChange<Client> = Pick<Settlement<PostgresWrite<Client>>, "recordKey" | "token" | "writes">;

/**
 * Keeps records in a table of PostgreSQL 13 or later, and commits your writes in one SQL transaction with them. The primary key
 * decides races, and the loser gets the winner's record.
 *
 * A claim, a replay, and a completion without writes are one statement each. A commit with writes adds four statements around
 * them. Results up to 64 KB come with the record, larger ones need one more statement. Beyond 16 MB the record says that the
 * result was not kept. Messages of a commit wait for an `outboxSweeper` over a PostgresOutbox. Nothing is deleted automatically:
 * call `reap`.
 */
export class PostgresStore<Client = unknown> implements Store<PostgresWrite<Client>> {
  /** @internal */
  readonly patienceMs = PATIENCE_MS;
  /** @internal */
  readonly usesPool = true;
  readonly #client: SqlClient<Client>;
  readonly #table: string;
  readonly #dialect: SqlDialect | undefined;
  readonly #statements: RecordStatements;
  /** Where the previous batch of `reap` ended, in epoch seconds. */
  #reapedUntil = EARLIEST;

  /** @throws InvalidOptionError (`INVALID_OPTION`) */
  constructor(options: PostgresStoreOptions<Client>) {
    checkStore(options);
    this.#client = options.client;
    this.#table = options.table as string;
    this.#dialect = options.dialect;
    this.#statements = recordStatements({ ...options, table: this.#table });
  }

  async claim(claim: Claim, seen?: IdempotencyRecord): Promise<ClaimAnswer> {
    const { recordKey } = claim;
    try {
      const { serverTimeMs, record } = await this.#change(this.#statements.claim(claim, seen));
      if (serverTimeMs !== undefined) return { won: true, serverTimeMs };
      return { won: false, record: record ? recordOf(record) : await this.#find(recordKey) };
    } catch (error) {
      if (!isStoreFailure(error) || error.failure !== "conflict") throw error;
      // Another call was first, but this statement's isolation level doesn't let it see that.
      return { won: false, record: await this.#find(recordKey) };
    }
  }

  async settle(settlement: Settlement<PostgresWrite<Client>>): Promise<SettleAnswer> {
    return this.#finish(settlement, this.#statements.settle(settlement));
  }

  async renew(renewal: Renewal): Promise<RenewAnswer> {
    const { serverTimeMs } = await this.#change(this.#statements.renew(renewal));
    if (serverTimeMs !== undefined) return { renewed: true };
    return { renewed: false, record: await this.#find(renewal.recordKey) };
  }

  async writeStep(change: StepChange<PostgresWrite<Client>>): Promise<SettleAnswer> {
    const { recordKey, token, name, step } = change;
    const answer = await this.#apply(change, this.#statements.writeStep(change));
    if (answer) return { settled: true, lostBytes: answer.lostBytes ?? undefined };
    const record = await this.#find(recordKey);
    const there = isClaimOf(record, token) ? record?.steps?.[name] : undefined;
    const isWritten = there?.state === step.state && there.attempt === step.attempt && there.at === step.at;
    if (!isWritten) return { settled: false, record };
    return { settled: true, lostBytes: there.result?.in === "nowhere" ? there.result.bytes : undefined };
  }

  async insert(insertion: Insertion<PostgresWrite<Client>>, seen?: IdempotencyRecord): Promise<SettleAnswer> {
    const answer = await this.#finish(insertion, this.#statements.insert(insertion, seen));
    if (answer.settled || !isClaimOf(answer.record, insertion.token)) return answer;
    // Our own claim, whose answer was lost, holds the record.
    return this.#finish(insertion, this.#statements.settle(insertion, { seen: answer.record }));
  }

  /** Always consistent, as long as the client queries the primary. */
  find(recordKey: string, _read: { consistent: boolean }): Promise<IdempotencyRecord | undefined> {
    return this.#find(recordKey);
  }

  async loadResult(address: string): Promise<string | undefined> {
    const [recordKey = "", token = "", stepKey] = readResultAddress(address);
    const { loadResult, loadStepResult } = this.#statements;
    const [row] = await this.#run(
      stepKey === undefined ? loadResult(recordKey, token) : loadStepResult(recordKey, stepKey),
    );
    return textOf(row);
  }

  checkEffects(effects: Effects<PostgresWrite<Client>>): void {
    checkWrites(effects);
    storedMessages(effects.messages, roomOf(this.#dialect));
  }

  /**
   * Lists held keys and abandoned attempts from before `before` (epoch ms), for functions that use hold or verify. `Date.now()`
   * lists all of them, oldest first, with one query of a partial index per 100 keys. The list contains no payloads or results.
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`)
   */
  async *unknownOutcomes({ before }: { readonly before: number }): AsyncGenerator<UnknownOutcome> {
    let [since, recordKey] = [EARLIEST, ""];
    for (;;) {
      const rows = await this.#run(this.#statements.unsettled(before, since, recordKey, PAGE));
      for (const row of rows) {
        const { record = {}, since: at = 0 } = answerOf(row);
        [since, recordKey] = [at, `${record.recordKey}`];
        const outcome = outcomeOf(recordKey, record, since, before);
        if (outcome) yield outcome;
      }
      if (rows.length < PAGE) return;
    }
  }

  /**
   * Deletes up to `batchSize` records whose retention is over by the server's clock; use it in place of a TTL. Resolves to the
   * number deleted; fewer than `batchSize` means that no others are due. Call it on a schedule, until it deletes fewer. A
   * completed record is due at the end that its claim had, which is later by the rest of the lease, and by an hour at most; it
   * counts as absent from its expiry on. Several processes may reap at the same time.
   *
   * Keep the store between calls: each batch continues where the previous one ended, the oldest records first. The last batch
   * also looks before that point. Otherwise each batch would read the deleted rows again that a vacuum can't remove while a long
   * transaction is open.
   * @throws InvalidOptionError (`INVALID_OPTION`), StoreUnavailableError (`STORE_UNAVAILABLE`)
   */
  async reap(options: { readonly batchSize?: number } = {}): Promise<number> {
    checkReap(options, this.#dialect);
    const { batchSize = BATCH_SIZE } = options;
    const from = this.#reapedUntil;
    const ahead = await this.#reap(from, LATEST, batchSize);
    this.#reapedUntil = latest(ahead, from);
    const rest = batchSize - ahead.length;
    if (rest === 0 || from === EARLIEST) return ahead.length;
    // Records that another process had locked, or that have expired long ago, such as those that waited for their messages.
    const behind = await this.#reap(EARLIEST, from, rest);
    // There may be more of them, so the next batch continues there.
    if (behind.length === rest) this.#reapedUntil = latest(behind, EARLIEST);
    return ahead.length + behind.length;
  }

  /** The expiries of the deleted records, in any order. */
  async #reap(from: number, to: number, batchSize: number): Promise<number[]> {
    const rows = await this.#run(this.#statements.reap(from, to, batchSize));
    return rows.map((row) => Number(textOf(row)));
  }

  async #finish(
    finish: Settlement<PostgresWrite<Client>> | Insertion<PostgresWrite<Client>>,
    statement: SqlStatement,
  ): Promise<SettleAnswer> {
    const { recordKey, token, state } = finish;
    if (await this.#apply(finish, statement)) return { settled: true };
    const record = await this.#find(recordKey);
    // If the record already has our token and state, this repeats a write whose answer was lost.
    return record?.token === token && record.state === state ? { settled: true } : { settled: false, record };
  }

  /** The answer of a statement that changed the record, together with the writes; `undefined` if it changed nothing. */
  async #apply(change: SqlChange<Client>, statement: SqlStatement): Promise<SqlAnswer | undefined> {
    if (change.writes.length > 0) return this.#commit(change, statement);
    const answer = await this.#change(statement);
    return answer.serverTimeMs === undefined ? undefined : answer;
  }

  /** The record's change comes first: a lost claim runs no writes, and a copy of this commit waits for the row. */
  async #commit(
    { recordKey, token, writes }: SqlChange<Client>,
    statement: SqlStatement,
  ): Promise<SqlAnswer | undefined> {
    const work = async (transaction: SqlTransaction<Client>): Promise<SqlAnswer | undefined> => {
      const answer = await this.#change(statement, transaction);
      const { serverTimeMs, began = "" } = answer;
      if (serverTimeMs === undefined) return undefined;
      try {
        await applyWrites(writes, transaction.client, this.#table);
      } finally {
        transaction.close();
      }
      let same: readonly SqlRow[];
      try {
        same = await this.#run(this.#statements.isSame(recordKey, token, began), transaction);
      } catch (error) {
        throw brokenBy(error) ?? error;
      }
      if (same.length === 0) throw brokenTransaction();
      return answer;
    };
    try {
      return await this.#client.transaction(work, firstStatement(this.#dialect));
    } catch (error) {
      throw isOnceonlyError(error) ? error : commitFailure(error, writes.length - 1, this.#table);
    }
  }

  async #find(recordKey: string): Promise<IdempotencyRecord | undefined> {
    const [row] = await this.#run(this.#statements.find(recordKey));
    const { record } = answerOf(row);
    return record && recordOf(record);
  }

  async #change(statement: SqlStatement, transaction?: SqlTransaction<Client>): Promise<SqlAnswer> {
    const [row] = await this.#run(statement, transaction);
    return answerOf(row);
  }

  async #run(statement: SqlStatement, transaction?: SqlTransaction<Client>): Promise<readonly SqlRow[]> {
    if (!transaction) return runAlone(this.#client, this.#table, statement);
    const { action, text, values } = statement;
    try {
      return await transaction.query(text, values);
    } catch (error) {
      throw storeFailure(error, action, this.#table);
    }
  }
}

const latest = (ends: readonly number[], start: number): number =>
  ends.reduce((last, end) => Math.max(last, end), start);

function outcomeOf(
  recordKey: string,
  stored: JsonRecord,
  since: number,
  before: number,
): UnknownOutcome | undefined {
  try {
    const record = recordOf(stored);
    if (isKnownVersion(record.version)) return unknownOutcomeOf(recordKey, record, since, before);
  } catch (error) {
    if (!hasCode(error, "RECORD_CORRUPT")) throw error;
  }
  // One damaged record must not hide the others.
  return { recordKey, state: "unreadable", since };
}

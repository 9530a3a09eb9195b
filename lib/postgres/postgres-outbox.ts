/** The PostgreSQL outbox: finds, takes and marks the records whose messages wait to be sent. */
import { OUTBOX_SHARDS } from "../contract.ts";
import { inTime } from "../core/ending.ts";
import { type ChangedCommit, OperatedOutbox } from "../core/messages/operated-outbox.ts";
import {
  type FoundUnsent,
  isOver,
  type MessageProgress,
  mergeProgress,
  type Outbox,
  type SweepLease,
  type Taken,
  type Taking,
  type Unsent,
} from "../core/messages/outbox.ts";
import { answerOf, type JsonRecord, textOf } from "./answers.ts";
import { channelOf, checkStore, type PostgresStoreOptions } from "./options.ts";
import { type OutboxStatements, outboxStatements, PAGE, senderOf } from "./outbox-statements.ts";
import { runAlone } from "./run-alone.ts";
import type { SqlClient, SqlRow } from "./sql-client.ts";
import type { SqlStatement } from "./statement.ts";
import { type WaitingRow, waitingRowOf } from "./waiting-row.ts";

/** How many concurrent changes by other senders a merge tolerates. */
const MAX_MERGES = 5;

interface OutboxAnswer {
  readonly isChanged?: boolean;
  readonly commit?: JsonRecord;
  readonly recordKey?: string;
  readonly dueAt?: number;
  readonly waiting?: number;
  readonly parked?: number;
}

/**
 * Reads the messages that `commit` stored in the rows of their records, and marks them as sent. Use it with `outboxSweeper`, run
 * on a schedule, in a loop, or on every notification. PostgreSQL has no change stream for `outboxRelay`. Give it the same
 * options as the store that commits. The role needs SELECT and UPDATE on the table, and INSERT for the senders' notes.
 */
export class PostgresOutbox extends OperatedOutbox implements Outbox {
  readonly shards = OUTBOX_SHARDS;
  /** The channel that commits of a store with `notify` use: `LISTEN "<channel>"`. */
  readonly channel: string;
  readonly #client: SqlClient;
  readonly #table: string;
  readonly #statements: OutboxStatements;
  readonly #takesAlone: boolean;

  /** @throws InvalidOptionError (`INVALID_OPTION`) */
  constructor(options: PostgresStoreOptions) {
    super();
    checkStore(options);
    this.#client = options.client;
    this.#table = options.table as string;
    this.channel = channelOf(this.#table);
    this.#takesAlone = options.dialect === "dsql";
    this.#statements = outboxStatements(this.#table, options.dialect);
  }

  /** Always `undefined`: PostgreSQL has no stream for a relay to read. */
  readChange(_change: unknown): undefined {
    return undefined;
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`), RecordCorruptError (`RECORD_CORRUPT`) */
  async load(recordKey: string): Promise<Unsent | undefined> {
    const { commit } = await this.#ask(this.#statements.load(recordKey));
    return commit && waitingRowOf(commit);
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`), RecordCorruptError (`RECORD_CORRUPT`) */
  async take(recordKey: string, taking: Taking): Promise<Taken> {
    const { isChanged, commit } = await this.#ask(this.#statements.take(recordKey, taking));
    const unsent = commit ? waitingRowOf(commit) : await this.#notTaken(recordKey);
    if (unsent === undefined) return { state: "over" };
    if (isChanged || unsent.sender === senderOf(taking)) return { state: "taken", unsent };
    return unsent.shard < 0 ? { state: "over" } : { state: "held", unsent };
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`), RecordCorruptError (`RECORD_CORRUPT`) */
  async keep(unsent: Unsent, progress: readonly MessageProgress[], dueAt: number): Promise<void> {
    const { recordKey, token, sendingUntil } = unsent as WaitingRow;
    let seen = unsent as WaitingRow;
    let [kept, due] = [progress, dueAt];
    for (let merges = 0; merges < MAX_MERGES; merges++) {
      const isOwn = seen.sendingUntil === sendingUntil;
      const keeping = { dueAt: due, waits: kept.some(isWaiting), isOwn };
      const statement = this.#statements.keep(seen, JSON.stringify(kept), keeping);
      if ((await this.#ask(statement)).isChanged) return;
      const theirs = await this.load(recordKey);
      const merged = theirs?.token === token ? mergeProgress(progress, theirs) : undefined;
      // Either it is marked already, or this repeats a write whose answer was lost.
      if (!theirs || !merged) return;
      if (merged.every(isOver)) {
        await this.markSent(theirs, merged);
        return;
      }
      [seen, kept, due] = [theirs, merged, theirs.dueAt];
    }
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) */
  async markSent({ recordKey, token }: Unsent, progress?: readonly MessageProgress[]): Promise<boolean> {
    const text = progress ? JSON.stringify(progress) : null;
    // If nothing changed, it is marked already.
    return (await this.#ask(this.#statements.markSent(recordKey, token, text))).isChanged === true;
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) */
  async park(recordKey: string, now: number): Promise<boolean> {
    return (await this.#ask(this.#statements.park(recordKey, now))).isChanged === true;
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) */
  async leaseSweep(lease: SweepLease): Promise<boolean> {
    return (await this.#ask(this.#statements.leaseSweep(lease))).isChanged === true;
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) */
  async *findUnsent(shard: number, before: number): AsyncGenerator<readonly FoundUnsent[]> {
    let [dueAt, recordKey] = [Number.MIN_SAFE_INTEGER, ""];
    for (;;) {
      const rows = await this.#run(this.#statements.find(shard, before, dueAt, recordKey));
      const page = rows.map((row) => outboxAnswerOf(row) as FoundUnsent);
      yield page;
      const last = page.at(-1);
      if (!last || page.length < PAGE) return;
      ({ dueAt, recordKey } = last);
    }
  }

  protected async decide(commit: Unsent, { progress, messages, evidence }: ChangedCommit): Promise<boolean> {
    const [seen, text] = [commit as WaitingRow, JSON.stringify(progress)];
    const moved = messages === commit.messages ? null : JSON.stringify(messages);
    const act = { evidence, messages: moved };
    const keeping = { dueAt: commit.committedAt, waits: progress.some(isWaiting), isOwn: false };
    const statement = progress.every(isOver)
      ? this.#statements.finish(seen, text, act)
      : this.#statements.keep(seen, text, keeping, act);
    return (await this.#ask(statement)).isChanged === true;
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) */
  async readNotes(): Promise<string | undefined> {
    const [row] = await this.#run(this.#statements.readNotes());
    return textOf(row);
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) */
  async replaceNotes(former: string | undefined, notes: string): Promise<boolean> {
    const { isChanged } = await this.#ask(this.#statements.replaceNotes(former, notes));
    // The refusal may be of a repeated request whose first answer was lost.
    return isChanged === true || (await this.readNotes()) === notes;
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) */
  async count(): Promise<{ waiting: number; parked: number }> {
    const { waiting = 0, parked = 0 } = await this.#ask(this.#statements.count());
    return { waiting, parked };
  }

  /** Except on DSQL, the statement that takes a commit also returns one that it couldn't take. */
  async #notTaken(recordKey: string): Promise<WaitingRow | undefined> {
    return this.#takesAlone ? this.load(recordKey) : undefined;
  }

  async #ask(statement: SqlStatement): Promise<OutboxAnswer> {
    const [row] = await this.#run(statement);
    return outboxAnswerOf(row);
  }

  #run(statement: SqlStatement): Promise<readonly SqlRow[]> {
    return inTime(runAlone(this.#client, this.#table, statement));
  }
}

const isWaiting = ({ state }: MessageProgress) => state === "waiting";

const outboxAnswerOf = (row: SqlRow | undefined) => answerOf(row) as OutboxAnswer;

/** The adapter for `pg`, and for clients with the same interface, such as `@neondatabase/serverless`. */

import { answerWithin } from "../core/answer-within.ts";
import { systemClock } from "../core/clock.ts";
import { checkMethods } from "../core/option-checks.ts";
import { textOf } from "./answers.ts";
import { closable } from "./closable.ts";
import { AbortedTransactionError } from "./failures.ts";
import { noRollback, ROLLBACK_MS } from "./open-transaction.ts";
import { type PostgresPrepareOptions, prepareOf } from "./options.ts";
import { type Preparing, preparing } from "./preparing.ts";
import type { SqlClient, SqlRow, SqlTransaction, SqlValue } from "./sql-client.ts";

export interface PgStatement {
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
}

export interface PgResult {
  /** The command tag: the server answers a COMMIT of an aborted transaction with `ROLLBACK`. */
  readonly command: string;
  readonly rows: readonly object[];
}

/** A `pg` connection: a `Client`, or one from a `Pool`. */
export interface PgConnection {
  query(text: string, values?: unknown[]): Promise<unknown>;
  query(statement: PgStatement): Promise<unknown>;
  on(event: "error", listener: (error: Error) => void): unknown;
  removeListener(event: "error", listener: (error: Error) => void): unknown;
  /** The server process that the connection began with. */
  readonly processID?: number | null;
  /** `I` outside of transactions. Since 8.18. */
  getTransactionStatus?(): string | null;
}

/** A `pg` `Client`. Only the store may use it, one call at a time. A `Client` that has lost its connection never works again. */
export interface PgClient extends PgConnection {
  readonly totalCount?: undefined;
}

/** A `pg` `Pool` with one connection or more. */
export interface PgPool<Connection extends PgConnection> {
  readonly totalCount: number;
  query(text: string, values?: unknown[]): Promise<unknown>;
  query(statement: PgStatement): Promise<unknown>;
  connect(): Promise<Connection>;
  connect(
    callback: (
      error: Error | undefined,
      client: Connection | undefined,
      done: (release?: unknown) => void,
    ) => void,
  ): void;
}

interface Releasable {
  release(error?: Error | boolean): void;
}

/**
 * Makes a `SqlClient` from a `pg` `Pool` or a connected `Client`. Functions in the `writes` of a commit receive a connection of
 * it, as from `pool.connect()`, and must not release it. Set `connectionTimeoutMillis` and `query_timeout` on a pool: they stop
 * waiting for a dead server sooner than the store does.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function fromPg<Connection extends PgConnection & Releasable>(
  pool: PgPool<Connection>,
  options?: PostgresPrepareOptions,
): SqlClient<Connection>;
export function fromPg<Client extends PgClient>(
  client: Client,
  options?: PostgresPrepareOptions,
): SqlClient<Client>;
export function fromPg(
  client: PgPool<PgConnection & Releasable> | PgClient,
  options: PostgresPrepareOptions = {},
): SqlClient<PgConnection> {
  checkMethods("pool", client, ["query"], "a `Pool` or a connected `Client` from pg");
  const prepare = prepareOf(options);
  return client.totalCount === undefined ? ofClient(client, prepare) : ofPool(client, prepare);
}

function ofPool(
  pool: PgPool<PgConnection & Releasable>,
  prepare: boolean | undefined,
): SqlClient<PgConnection> {
  const prepared = preparing(pool, prepare, async () => {
    const connection = await connectionOf(pool);
    let isUsable = false;
    try {
      const answer = await isDirect(connection);
      isUsable = true;
      return answer;
    } finally {
      giveBack(connection, isUsable);
    }
  });
  return {
    query: (text, values) => prepared.alone(text, (name) => rowsOf(pool, text, values, name)),
    transaction: async (work, first) => {
      const connection = await connectionOf(pool);
      let isUsable = false;
      try {
        return await within(connection, prepared, work, first, (usable) => {
          isUsable = usable;
        });
      } finally {
        giveBack(connection, isUsable);
      }
    },
  };
}

function giveBack(connection: PgConnection & Releasable, isUsable: boolean): void {
  connection.removeListener("error", ignore);
  connection.release(!isUsable);
}

/**
 * A lost connection emits an event, which ends the process if there is no listener. The pool stops listening when it hands out
 * the connection, and the server may have ended it in the same packet. So this listens before any promise is resolved.
 */
function connectionOf<Connection extends PgConnection>(pool: PgPool<Connection>): Promise<Connection> {
  return new Promise((resolve, reject) => {
    pool.connect((error, connection) => {
      if (connection === undefined) return reject(error);
      connection.on("error", ignore);
      resolve(connection);
    });
  });
}

const ignore = () => {};

/** Runs everything in turn: another statement within a transaction would become part of it. */
function ofClient(client: PgConnection, prepare: boolean | undefined): SqlClient<PgConnection> {
  const prepared = preparing(client, prepare, () => isDirect(client));
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(run: () => Promise<T>): Promise<T> => {
    const turn = last.then(run);
    last = turn.catch(() => {});
    return turn;
  };
  // The caller may have begun a transaction.
  const mayName = () => prepare || client.getTransactionStatus?.() === "I";
  return {
    isSingle: true,
    query: (text, values) =>
      inTurn(() =>
        prepared.alone(text, (name) => rowsOf(client, text, values, mayName() ? name : undefined)),
      ),
    transaction: (work, first) =>
      inTurn(async () => {
        client.on("error", ignore);
        try {
          return await within(client, prepared, work, first, () => {});
        } finally {
          client.removeListener("error", ignore);
        }
      }),
  };
}

async function isDirect(connection: PgConnection): Promise<boolean> {
  const [row] = rowsIn(await connection.query("SELECT pg_backend_pid()::text AS pid"));
  return textOf(row) === `${connection.processID}`;
}

/** @param release is called with whether the connection has no open transaction afterwards */
async function within<T>(
  connection: PgConnection,
  { nameWithin }: Preparing,
  work: (transaction: SqlTransaction<PgConnection>) => Promise<T>,
  first: string | undefined,
  release: (isUsable: boolean) => void,
): Promise<T> {
  const { client, close } = closable(connection);
  await connection.query(first ? `BEGIN; ${first}` : "BEGIN");
  let result: T;
  try {
    result = await work({
      client,
      query: (text, values) => rowsOf(connection, text, values, nameWithin(text)),
      close,
    });
  } catch (error) {
    await rollBack(connection);
    release(true);
    throw error;
  }
  const { command } = (await connection.query("COMMIT").catch((error: unknown) => {
    release(Boolean((error as { severity?: unknown } | null)?.severity));
    throw error;
  })) as PgResult;
  release(true);
  if (command === "ROLLBACK") throw new AbortedTransactionError();
  return result;
}

/** Without an answer the connection is closed, which also ends the statements waiting on it. */
async function rollBack(connection: PgConnection): Promise<void> {
  await answerWithin(systemClock, ROLLBACK_MS, connection.query("ROLLBACK"), noRollback, "background");
}

async function rowsOf(
  connection: Pick<PgConnection, "query">,
  text: string,
  values: readonly SqlValue[],
  name: string | undefined,
): Promise<readonly SqlRow[]> {
  return rowsIn(
    await (name
      ? connection.query({ name, text, values: [...values] })
      : connection.query(text, [...values])),
  );
}

const rowsIn = (result: unknown) => (result as PgResult).rows as readonly SqlRow[];

/** The adapter for `pg`, and for what has its interface, such as `@neondatabase/serverless`. */

import { answerWithin } from "../core/answer-within.ts";
import { systemClock } from "../core/clock.ts";
import { hashTuple } from "../core/identity.ts";
import { checkMethods } from "../core/option-checks.ts";
import { closable } from "./closable.ts";
import { AbortedTransactionError } from "./failures.ts";
import { type PostgresPrepareOptions, prepares } from "./options.ts";
import type { SqlClient, SqlRow, SqlTransaction, SqlValue } from "./sql-client.ts";

export interface PgStatement {
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
}

export interface PgResult {
  /** The tag of the command: a COMMIT of an aborted transaction is answered by `ROLLBACK`. */
  readonly command: string;
  readonly rows: readonly object[];
}

/** A connection of `pg`: a `Client`, or what a `Pool` hands out. */
export interface PgConnection {
  query(text: string, values?: unknown[]): Promise<unknown>;
  query(statement: PgStatement): Promise<unknown>;
  on(event: "error", listener: (error: Error) => void): unknown;
  removeListener(event: "error", listener: (error: Error) => void): unknown;
}

/** A `Client` of `pg`. Only the store may use it, one call at a time. A `Client` whose connection is lost never works again. */
export interface PgClient extends PgConnection {
  readonly totalCount?: undefined;
}

/** A `Pool` of `pg`, of one connection or more. */
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
 * Makes a `SqlClient` of a `Pool`, or of a connected `Client`, of `pg`. The functions in `writes` of a commit get a
 * connection of it, as `pool.connect()` does. They must not release it. Give a pool `connectionTimeoutMillis` and `query_timeout`:
 * without them nothing ends the wait for a server that is gone.
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
  checkMethods("pool", client, ["query"], "give a `Pool` or a connected `Client` of pg");
  const rowsOf = prepares(options) ? rowsOfPrepared : rowsOfText;
  return client.totalCount === undefined ? ofClient(client, rowsOf) : ofPool(client, rowsOf);
}

function ofPool(pool: PgPool<PgConnection & Releasable>, rowsOf: RowsOf): SqlClient<PgConnection> {
  return {
    query: (text, values) => rowsOf(pool, text, values),
    transaction: async (work, first) => {
      const connection = await connectionOf(pool);
      let isUsable = false;
      try {
        return await within(connection, rowsOf, work, first, (usable) => {
          isUsable = usable;
        });
      } finally {
        connection.removeListener("error", ignore);
        connection.release(!isUsable);
      }
    },
  };
}

/**
 * A connection that is lost tells so by an event, which ends the process where nobody listens. The pool stops to listen when it hands
 * the connection out, and the server may have ended it in the same package. So this listens before any promise is resolved.
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

/** Everything in its turn: a statement between those of a transaction would be a part of it. */
function ofClient(client: PgConnection, rowsOf: RowsOf): SqlClient<PgConnection> {
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(run: () => Promise<T>): Promise<T> => {
    const turn = last.then(run);
    last = turn.catch(() => {});
    return turn;
  };
  return {
    isSingle: true,
    query: (text, values) => inTurn(() => rowsOf(client, text, values)),
    transaction: (work, first) =>
      inTurn(async () => {
        client.on("error", ignore);
        try {
          return await within(client, rowsOf, work, first, () => {});
        } finally {
          client.removeListener("error", ignore);
        }
      }),
  };
}

/** @param tell is told whether the connection is free of any transaction afterwards */
async function within<T>(
  connection: PgConnection,
  rowsOf: RowsOf,
  work: (transaction: SqlTransaction<PgConnection>) => Promise<T>,
  first: string | undefined,
  tell: (isUsable: boolean) => void,
): Promise<T> {
  const { client, close } = closable(connection);
  await connection.query(first ? `BEGIN; ${first}` : "BEGIN");
  let result: T;
  try {
    result = await work({
      client,
      query: (text, values) => rowsOf(connection, text, values),
      close,
    });
  } catch (error) {
    await rollBack(connection);
    tell(true);
    throw error;
  }
  const { command } = (await connection.query("COMMIT").catch((error: unknown) => {
    tell(Boolean((error as { severity?: unknown } | null)?.severity));
    throw error;
  })) as PgResult;
  tell(true);
  if (command === "ROLLBACK") throw new AbortedTransactionError();
  return result;
}

/** How long the server has for a ROLLBACK. Then the connection is closed, which ends the statements that wait on it too. */
const ROLLBACK_MS = 5000;

async function rollBack(connection: PgConnection): Promise<void> {
  const late = () => new Error(`no answer to ROLLBACK in ${ROLLBACK_MS} ms`);
  await answerWithin(systemClock, ROLLBACK_MS, connection.query("ROLLBACK"), late, "background");
}

type RowsOf = (
  connection: Pick<PgConnection, "query">,
  text: string,
  values: readonly SqlValue[],
) => Promise<readonly SqlRow[]>;

const rowsOfText: RowsOf = async (connection, text, values) =>
  rowsIn(await connection.query(text, [...values]));

/** The SQL of a migration has no values, and runs once. */
const rowsOfPrepared: RowsOf = async (connection, text, values) =>
  values.length === 0
    ? rowsOfText(connection, text, values)
    : rowsIn(await connection.query({ name: nameOf(text), text, values: [...values] }));

const rowsIn = (result: unknown) => (result as PgResult).rows as readonly SqlRow[];

/** By their texts: a store has few for each table. */
const names = new Map<string, string>();

/** Two statements never share a name, also where others prepare on the same connection. */
function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = hashTuple("onceonly/statement/1", text);
    names.set(text, name);
  }
  return name;
}

/** The adapter for `pg`, and for what has its interface, such as `@neondatabase/serverless`. */
import { closable } from "./closable.ts";
import { AbortedTransactionError } from "./failures.ts";
import type { SqlClient, SqlRow, SqlTransaction, SqlValue } from "./sql-client.ts";

export interface PgResult {
  /** The tag of the command: a COMMIT of an aborted transaction is answered by `ROLLBACK`. */
  readonly command: string;
  readonly rows: readonly object[];
}

/** A connection of `pg`: a `Client`, or what a `Pool` hands out. */
export interface PgConnection {
  query(text: string, values?: unknown[]): Promise<unknown>;
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
 */
export function fromPg<Connection extends PgConnection & Releasable>(
  pool: PgPool<Connection>,
): SqlClient<Connection>;
export function fromPg<Client extends PgClient>(client: Client): SqlClient<Client>;
export function fromPg(client: PgPool<PgConnection & Releasable> | PgClient): SqlClient<PgConnection> {
  return client.totalCount === undefined ? ofClient(client) : ofPool(client);
}

function ofPool(pool: PgPool<PgConnection & Releasable>): SqlClient<PgConnection> {
  return {
    query: (text, values) => rowsOf(pool, text, values),
    transaction: async (work, first) => {
      const connection = await connectionOf(pool);
      let isUsable = false;
      try {
        return await within(connection, work, first, (usable) => {
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
function ofClient(client: PgConnection): SqlClient<PgConnection> {
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
          return await within(client, work, first, () => {});
        } finally {
          client.removeListener("error", ignore);
        }
      }),
  };
}

/** @param tell is told whether the connection is free of any transaction afterwards */
async function within<T>(
  connection: PgConnection,
  work: (transaction: SqlTransaction<PgConnection>) => Promise<T>,
  first: string | undefined,
  tell: (isUsable: boolean) => void,
): Promise<T> {
  const { client, close } = closable(connection);
  try {
    await connection.query(first ? `BEGIN; ${first}` : "BEGIN");
    let result: T;
    try {
      result = await work({
        client,
        query: (text, values) => rowsOf(connection, text, values),
        close,
      });
    } catch (error) {
      await connection.query("ROLLBACK");
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
  } finally {
    close();
  }
}

async function rowsOf(
  connection: Pick<PgConnection, "query">,
  text: string,
  values: readonly SqlValue[],
): Promise<readonly SqlRow[]> {
  const { rows } = (await connection.query(text, [...values])) as PgResult;
  return rows as readonly SqlRow[];
}

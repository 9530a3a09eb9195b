// PostgreSQL, and what Aurora DSQL does of it: each with a store, and a table of rows beside the records.
import { fromPg } from "../../lib/postgres/from-pg.ts";
import { PostgresOutbox } from "../../lib/postgres/postgres-outbox.ts";
import type { SqlClient } from "../../lib/postgres/sql-client.ts";
import type { PostgresWrite } from "../../lib/postgres/writes.ts";
import type { Ports } from "../../packages/proof/model/store-play.ts";
import { conflictingAtFirst, onlyDsql } from "./dsql-given.ts";
import { poolOf, portOf, storeOf } from "./given.ts";

interface Queryable {
  query(text: string, values?: unknown[]): Promise<unknown>;
}

interface Stage {
  readonly client: SqlClient<Queryable>;
  /** What reaches behind the store: without conflicts. */
  readonly behind: SqlClient<Queryable>;
  readonly dialect?: "dsql";
  /** The store as the engine asks it. */
  seen<Seen extends object>(store: Seen): Seen;
}

export const STAGES: Readonly<Record<string, () => Promise<Stage>>> = {
  PostgreSQL: async () => {
    const client = fromPg(poolOf(await portOf()));
    return { client, behind: client, seen: (store) => store };
  },
  "PostgreSQL with the SQL of Aurora DSQL alone, its isolation, and a conflict at each first commit":
    async () => {
      const options = "-c default_transaction_isolation=repeatable\\ read";
      const behind = fromPg(poolOf(await portOf(), { options }));
      return { ...conflictingAtFirst(onlyDsql(behind)), behind, dialect: "dsql" };
    },
};

export async function portsOn(stage: () => Promise<Stage>): Promise<Ports<PostgresWrite<Queryable>>> {
  const { client, behind, dialect, seen } = await stage();
  const schema = dialect && { dialect };
  const { store, table } = await storeOf(client, undefined, schema);
  const rows = `${table}_rows`;
  await behind.query(`CREATE TABLE ${rows} (name text PRIMARY KEY, count integer NOT NULL)`, []);
  const insertion = `INSERT INTO ${rows} VALUES ($1, 1)`;
  const run = async (text: string, value: string) => behind.query(text, [value]);
  return {
    store: seen(store),
    outbox: new PostgresOutbox({ client: behind, table, ...schema }),
    rows: {
      insertion: (name) => (own) => own.query(insertion, [name]),
      increment: (name) => (own) =>
        own.query(`${insertion} ON CONFLICT (name) DO UPDATE SET count = ${rows}.count + 1`, [name]),
      put: async (name) => void (await run(insertion, name)),
      count: async (name) =>
        Number((await run(`SELECT count FROM ${rows} WHERE name = $1`, name))[0]?.count ?? 0),
      delete: async (name) => void (await run(`DELETE FROM ${rows} WHERE name = $1`, name)),
    },
    remove: async (key) => void (await run(`DELETE FROM ${table} WHERE pk = $1`, key)),
  };
}

// The store contract, unchanged, with each client, on each server, and in each isolation that a database may have by default.
import { beforeAll, describe, it } from "vitest";
import { fromPg } from "../../lib/postgres/from-pg.ts";
import { PostgresOutbox } from "../../lib/postgres/postgres-outbox.ts";
import type { PostgresSchemaOptions } from "../../lib/postgres/schema.ts";
import type { SqlClient } from "../../lib/postgres/sql-client.ts";
import type { PostgresWrite } from "../../lib/postgres/writes.ts";
import { type StoreSubject, storeContract } from "../../lib/testing/contract/store-contract.ts";
import { isFull } from "../setup/tier.ts";
import { conflictingAtFirst, limitAsDsql, onlyDsql } from "./dsql-given.ts";
import { bouncerPort, CLIENTS, hasServer, poolOf, portOf, servers, storeOf } from "./given.ts";
import { ORMS } from "./orms-given.ts";
import { hasPgBouncer, NO_PGBOUNCER } from "./pgbouncer-given.ts";

if (!hasPgBouncer) console.warn(NO_PGBOUNCER);

interface Queryable {
  query(text: string, values: string[]): Promise<unknown>;
}

interface Unsafe {
  unsafe(text: string, values: string[]): PromiseLike<unknown>;
}

const runOnClient = async (client: Queryable | Unsafe, text: string, value: string) =>
  "unsafe" in client ? client.unsafe(text, [value]) : client.query(text, [value]);

interface Variation {
  readonly schema?: Omit<PostgresSchemaOptions, "table">;
  /** What reaches behind the store, where that is another client. */
  readonly behind?: SqlClient;
  /** The store as the cases see it. */
  seen?<Seen extends object>(store: Seen): Seen;
}

async function subjectOf<Client>(
  client: SqlClient<Client>,
  run: (own: Client, text: string, value: string) => PromiseLike<unknown>,
  { schema = {}, behind = client, seen = (store) => store }: Variation = {},
): Promise<StoreSubject<PostgresWrite<Client>>> {
  const { store, table } = await storeOf<Client>(client, undefined, schema);
  if (schema.dialect === "dsql") await limitAsDsql(behind, table);
  const counters = `${table}_counters`;
  await behind.query(`CREATE TABLE ${counters} (name text PRIMARY KEY, count integer NOT NULL)`, []);
  return {
    store: seen(store),
    outbox: new PostgresOutbox({ client, table, ...(schema.dialect && { dialect: schema.dialect }) }),
    unacceptableWrites: [[null], [{}], ["DELETE FROM orders"]] as unknown as PostgresWrite<Client>[][],
    countUp: (name, condition) => (own) =>
      run(
        own,
        `INSERT INTO ${counters} AS c VALUES ($1, 1)${condition ? "" : " ON CONFLICT (name) DO UPDATE SET count = c.count + 1"}`,
        name,
      ),
    readCount: async (name) => {
      const [row] = await behind.query(`SELECT count FROM ${counters} WHERE name = $1`, [name]);
      return Number(Object.values(row ?? {})[0] ?? 0);
    },
    alter: async (recordKey, { version, steps }) => {
      if (version !== undefined) {
        await behind.query(`UPDATE ${table} SET version = $2 WHERE pk = $1`, [recordKey, version]);
      }
      if (steps === undefined) return;
      const text = JSON.stringify(steps);
      await behind.query(`UPDATE ${table} SET steps = $2::text::jsonb WHERE pk = $1`, [recordKey, text]);
    },
    remove: async (recordKey) => {
      await behind.query(`DELETE FROM ${table} WHERE pk = $1`, [recordKey]);
    },
  };
}

function promises<Client>(connect: () => Promise<Parameters<typeof subjectOf<Client>>>): void {
  let subject: StoreSubject<PostgresWrite<Client>>;

  beforeAll(async () => {
    subject = await subjectOf<Client>(...(await connect()));
  });

  for (const { name, run } of storeContract(() => subject)) it(name, run);
}

describe.skipIf(!hasServer)("PostgresStore", () => {
  // The short form leaves out what differs from another client in one option.
  const clients = Object.entries(CLIENTS).filter(
    ([name]) => isFull || !["pg, a pool of one connection", "postgres.js, which prepares"].includes(name),
  );

  describe.each(servers)("on %s", (server) => {
    // Only the client's own code differs: the short form asks one server for all of them.
    const asked = clients.slice(0, isFull || server === servers[0] ? undefined : 1);

    describe.each(asked)("with %s", (_, connect) => {
      promises(async () => [(await connect(await portOf(server))) as SqlClient<Queryable>, runOnClient]);
    });
  });

  // The same adapter over another driver: in the full form.
  const orms = Object.entries(ORMS).filter(([name]) => isFull || name !== "Drizzle over postgres.js");

  describe.each(orms)("with %s", (_, connect) => {
    promises(async () => {
      const { client, run } = connect(await portOf());
      return [client, run];
    });
  });

  describe.skipIf(!hasPgBouncer)("through PgBouncer, of which each transaction gets any connection", () => {
    const asked = clients.filter(([name]) =>
      isFull ? !name.endsWith("prepares") : ["pg, a pool", "postgres.js"].includes(name),
    );

    describe.each(asked)("with %s", (_, connect) => {
      promises(async () => [(await connect(await bouncerPort())) as SqlClient<Queryable>, runOnClient]);
    });

    describe.each(isFull ? orms : [])("with %s", (_, connect) => {
      promises(async () => {
        const { client, run } = connect(await bouncerPort());
        return [client, run];
      });
    });
  });

  describe("in a table of 4 partitions", () => {
    promises(async () => [fromPg(poolOf(await portOf())), runOnClient, { schema: { partitions: 4 } }]);
  });

  describe("with a conflict at each transaction's first commit, as on Aurora DSQL", () => {
    promises(async () => {
      const behind = fromPg(poolOf(await portOf()));
      const { client, seen } = conflictingAtFirst(behind);
      return [client, runOnClient, { behind, seen }];
    });
  });

  describe("with only Aurora DSQL's SQL, limits and isolation, and a conflict at each first commit", () => {
    promises(async () => {
      const options = "-c default_transaction_isolation=repeatable\\ read";
      const behind = fromPg(poolOf(await portOf(), { options }));
      const { client, seen } = conflictingAtFirst(onlyDsql(behind));
      return [client, runOnClient, { behind, seen, schema: { dialect: "dsql" } }];
    });
  });

  describe.each(["repeatable read", "serializable"])(
    "with transactions that are %s by default",
    (isolation) => {
      promises(async () => {
        const options = `-c default_transaction_isolation=${isolation.replace(" ", "\\ ")}`;
        return [fromPg(poolOf(await portOf(), { options })), runOnClient];
      });
    },
  );
});

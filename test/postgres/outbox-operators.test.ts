// What operators see and decide, on PostgreSQL.
import { randomUUID } from "node:crypto";
import { fromPg, PostgresOutbox, type SqlClient } from "onceonly/postgres";
import { beforeAll, describe, expect, it } from "vitest";
import { COMMITTED_AT, operatorCases } from "../core/messages/operated-outbox-given.ts";
import { messageOf } from "../dynamodb/outbox-given.ts";
import { onlyDsql } from "./dsql-given.ts";
import { hasServer, poolOf, portOf, storeOf } from "./given.ts";

const DIALECTS = [
  ["PostgreSQL", "postgresql", <Client>(client: SqlClient<Client>) => client],
  ["the SQL of Aurora DSQL alone", "dsql", onlyDsql],
] as const;

describe.skipIf(!hasServer).each(DIALECTS)("operators of PostgresOutbox with %s", (_, dialect, limited) => {
  let pool: ReturnType<typeof poolOf>;
  beforeAll(async () => {
    pool = poolOf(await portOf());
  });

  operatorCases(async () => {
    const client = limited(fromPg(pool));
    const { store, table } = await storeOf(client, undefined, { dialect });
    const recordKey = `order##${randomUUID()}`;
    return {
      outbox: new PostgresOutbox({ client, table, dialect }),
      async commit(bytes) {
        const messages = [messageOf("order-7/created", bytes), messageOf("order-7/paid", bytes)];
        const claim = {
          recordKey,
          token: randomUUID(),
          fingerprint: "1:f",
          expiresAt: 1_900_000_000,
          attempt: 1,
          keepsSteps: false,
        };
        const insertion = {
          ...claim,
          createdAt: COMMITTED_AT,
          now: COMMITTED_AT,
          state: "completed" as const,
        };
        await store.insert({ ...insertion, result: '"done"', writes: [], messages });
        return { recordKey, messages };
      },
      async damage(key) {
        await pool.query(`UPDATE ${table} SET messages = '[{' WHERE pk = $1`, [key]);
      },
      async kept(key) {
        const columns = "progress, expires_at, evidence";
        const { rows } = await pool.query(`SELECT ${columns} FROM ${table} WHERE pk = $1`, [key]);
        const [{ progress, expires_at, evidence }] = rows;
        return { progress, expires: expires_at !== null, evidence: JSON.parse(evidence) };
      },
      async judge(key, evidence) {
        await pool.query(`UPDATE ${table} SET evidence = $2 WHERE pk = $1`, [key, evidence]);
      },
    };
  });

  it("passes on that the table cannot be read", async () => {
    const outbox = new PostgresOutbox({ client: fromPg(pool), table: "no_such_table" });

    await expect(outbox.list("waiting").next()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });
});

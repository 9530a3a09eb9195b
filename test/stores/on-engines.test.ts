// The store contract on real engines: from one table to another, and between PostgreSQL and DynamoDB.
import { beforeAll, describe, inject, it } from "vitest";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { fromPg } from "../../lib/postgres/from-pg.ts";
import { storeContract } from "../../lib/testing/contract/store-contract.ts";
import { contractSubject } from "../dynamodb/contract-given.ts";
import { connect } from "../kit/tables.ts";
import { hasServer, poolOf, portOf, storeOf } from "../postgres/given.ts";
import { isFull } from "../setup/tier.ts";
import { clockOf, isKept, migratingSubject } from "./migrating-given.ts";

const tableSubject = () =>
  contractSubject(connect(inject("dynamodbEngines")[0]?.endpoint as string), (pk) => ({ pk }));

async function postgresBehind() {
  const pool = poolOf(await portOf());
  const { store, table } = await storeOf(fromPg(pool));
  return {
    store,
    alter: async (recordKey: string, { version, steps }: { version?: number; steps?: unknown }) => {
      await pool.query(
        `UPDATE ${table} SET version = coalesce($2, version), steps = coalesce($3::text::jsonb, steps) WHERE pk = $1`,
        [recordKey, version, steps && JSON.stringify(steps)],
      );
    },
    remove: async (recordKey: string) => {
      await pool.query(`DELETE FROM ${table} WHERE pk = $1`, [recordKey]);
    },
  };
}

type Subjects = Parameters<typeof migratingSubject<DynamoDBWrite>>;

function promises(commitsIn: "from" | "to", behind: () => Promise<Subjects[1]>) {
  let leading: Subjects[0];
  let following: Subjects[1];
  let title = "";

  beforeAll(async () => {
    leading = await tableSubject();
    following = await behind();
  });

  for (const { name, run } of storeContract(() =>
    migratingSubject(leading, following, commitsIn, clockOf(title)),
  )) {
    it.runIf(isKept(commitsIn, name))(name, () => {
      title = name;
      return run();
    });
  }
}

describe("migrating", () => {
  describe("H69: between two tables of DynamoDB, with commits in `from`", () =>
    promises("from", tableSubject));

  describe.runIf(isFull)("H69: between two tables of DynamoDB, with commits in `to`", () =>
    promises("to", tableSubject),
  );

  describe.runIf(isFull && hasServer)("H69: from DynamoDB, which commits, to PostgreSQL", () =>
    promises("from", postgresBehind),
  );

  describe.runIf(isFull && hasServer)("H69: from PostgreSQL to DynamoDB, which commits", () =>
    promises("to", postgresBehind),
  );
});

// The model's store is held to the real ones: every request to every kind of record is decided by all of them alike.
import { isDeepStrictEqual } from "node:util";
import { type DynamoDBClient, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { describe, expect, inject, it } from "vitest";
import { connect, createOutboxTable } from "../../kit/tables.ts";
import { TRANSITIONS } from "../../lib/core/record.ts";
import { DynamoDBOutbox } from "../../lib/dynamodb/dynamodb-outbox.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";
import { moveName } from "./invariants.ts";
import { records, storeCases } from "./store-cases.ts";
import { type Ports, playCase, type Rows, visible } from "./store-play.ts";

/** At once: an engine answers one request after the other, but not one connection after the other. */
const PLAYERS = 16;

async function disagreements<Write>(ports: Ports<Write>): Promise<unknown[]> {
  const rest = storeCases().values();
  const found: unknown[] = [];
  const playRest = async () => {
    for (const { expected, ...given } of rest) {
      const real = await playCase(ports, given);
      const { answers, isTaken } = expected;
      const model = { answers, record: visible(expected.record), isTaken };
      if (!isDeepStrictEqual(real, model)) found.push({ ...given, real, model });
    }
  };
  await Promise.all(Array.from({ length: PLAYERS }, playRest));
  return found;
}

/** Beside the records, under keys of their own. */
function rowsIn(client: DynamoDBClient, TableName: string): Rows<DynamoDBWrite> {
  const key = (name: string) => ({ pk: { S: `row-${name}` } });
  return {
    insertion: (name) => ({
      Put: {
        TableName,
        Item: { pk: `row-${name}` },
        ConditionExpression: "attribute_not_exists(pk)",
      },
    }),
    put: async (name) => void (await client.send(new PutItemCommand({ TableName, Item: key(name) }))),
    has: async (name) => {
      const read = new GetItemCommand({ TableName, Key: key(name), ConsistentRead: true });
      return (await client.send(read)).Item !== undefined;
    },
  };
}

const KINDS = records().length;

describe("the model's store", { timeout: 120_000 }, () => {
  it("makes the moves of core's table, and no others", () => {
    const cases = storeCases();
    const made = new Set(cases.flatMap(({ expected }) => expected.moves));
    const requests = cases.flatMap((each) => each.requests);
    console.log(
      `the stores decide what the model says: ${requests.length} requests to ${KINDS} kinds of record and none`,
    );

    const table = Object.entries(TRANSITIONS).flatMap(([from, states]) =>
      states.map((to) => moveName(from, to)),
    );
    expect([...made].sort()).toEqual(table.sort());
  });

  it("decides as MemoryStore does", async () => {
    const store = new MemoryStore();
    const taken = new Set<string>();
    const insertion = (name: string): MemoryWrite => ({
      table: "rows",
      key: name,
      item: {},
      condition: (former) => former === undefined && !taken.has(name),
    });
    const rows: Rows<MemoryWrite> = {
      insertion,
      put: async (name) => void taken.add(name),
      has: async (name) => taken.has(name) || store.table("rows").has(name),
    };

    expect(await disagreements({ store, outbox: store.outbox, rows })).toEqual([]);
  });

  it.each(inject("dynamodbEngines"))("decides as DynamoDBStore does on $name", async ({ endpoint }) => {
    const client = connect(endpoint);
    const tableName = await createOutboxTable(client);
    const store = new DynamoDBStore({ tableName, client });
    const outbox = new DynamoDBOutbox({ tableName, client });

    expect(await disagreements({ store, outbox, rows: rowsIn(client, tableName) })).toEqual([]);
  });
});

// The model's store is held to the real ones: every request to every kind of record is decided by all of them alike.
import { isDeepStrictEqual } from "node:util";
import { describe, expect, inject, it } from "vitest";
import { TRANSITIONS } from "../../lib/core/record.ts";
import { DynamoDBOutbox } from "../../lib/dynamodb/dynamodb-outbox.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import { MemoryStore } from "../../lib/testing/index.ts";
import { connect, createOutboxTable } from "../dynamodb/tables.ts";
import { moveName } from "./invariants.ts";
import { storeCases } from "./store-cases.ts";
import { type Ports, playCase, visible } from "./store-play.ts";

/** At once: an engine answers one request after the other, but not one connection after the other. */
const PLAYERS = 16;

async function disagreements(ports: Ports): Promise<unknown[]> {
  const cases = storeCases();
  const rest = cases.values();
  const found: unknown[] = [];
  const playRest = async () => {
    for (const { record, requests, expected } of rest) {
      const real = await playCase(ports, { record, requests });
      const model = { answers: expected.answers, record: visible(expected.record) };
      if (!isDeepStrictEqual(real, model)) found.push({ record, requests, real, model });
    }
  };
  await Promise.all(Array.from({ length: PLAYERS }, playRest));
  return found;
}

describe("the model's store", { timeout: 120_000 }, () => {
  it("makes the moves of core's table, and no others", () => {
    const made = new Set(storeCases().flatMap(({ expected }) => expected.moves));

    const table = Object.entries(TRANSITIONS).flatMap(([from, states]) =>
      from === "held" ? [] : states.map((to) => moveName(from, to)),
    );
    expect([...made].sort()).toEqual(table.sort());
    // What resolves a held record is not built: until then nothing moves one, and these are the moves kept for it.
    expect(TRANSITIONS.held).toEqual(["completed", "released"]);
  });

  it("decides as MemoryStore does", async () => {
    const store = new MemoryStore();

    expect(await disagreements({ store, outbox: store.outbox })).toEqual([]);
  });

  it.each(inject("dynamodbEngines"))("decides as DynamoDBStore does on $name", async ({ endpoint }) => {
    const client = connect(endpoint);
    const tableName = await createOutboxTable(client);
    const store = new DynamoDBStore({ tableName, client });
    const outbox = new DynamoDBOutbox({ tableName, client });

    expect(await disagreements({ store, outbox })).toEqual([]);
  });
});

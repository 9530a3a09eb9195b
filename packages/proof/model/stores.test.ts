// The model's store is held to the real ones: every request to every kind of record is decided by all of them alike.
// PostgreSQL and Valkey: test/postgres/model.test.ts, test/valkey/model.test.ts.
import { describe, expect, inject, it } from "vitest";
import { TRANSITIONS } from "../../../lib/core/record.ts";
import type { Settlement } from "../../../lib/core/store.ts";
import type { MemoryStore, MemoryWrite } from "../../../lib/testing/index.ts";
import { moveName } from "./invariants.ts";
import { dynamodbPorts, memoryPorts } from "./ports-given.ts";
import { records, storeCases } from "./store-cases.ts";
import { playOnStore } from "./traces-given.ts";

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
    expect((await playOnStore(memoryPorts())).differences).toEqual([]);
  });

  it.each(inject("dynamodbEngines"))("decides as DynamoDBStore does on $name", async ({ endpoint }) => {
    expect((await playOnStore(await dynamodbPorts(endpoint))).differences).toEqual([]);
  });

  it("finds a store that lets the token of a settlement go", async () => {
    const ports = memoryPorts();
    const settle = (settlement: Settlement<MemoryWrite>) => {
      const token = (ports.store as MemoryStore).records.get(settlement.recordKey)?.token;
      return ports.store.settle({ ...settlement, ...(token && { token }) });
    };
    const store = new Proxy(ports.store, {
      get: (target, name) => (name === "settle" ? settle : Reflect.get(target, name).bind(target)),
    });

    expect((await playOnStore({ ...ports, store })).differences).not.toEqual([]);
  });
});

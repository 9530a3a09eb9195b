// Erasing while a move is under way: in both stores, between memory and a table.
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { identify } from "../../lib/core/identity.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import { eraseResult } from "../../lib/dynamodb/erase-result.ts";
import { migrating } from "../../lib/stores/migrating.ts";
import { unmigratedRecords } from "../../lib/stores/unmigrated-records.ts";
import { MemoryStore } from "../../lib/testing/memory-store.ts";
import { type ErasedWorld, erasuresOf } from "../core/plays/erasures.ts";
import { connect, createOutboxTable } from "../kit/tables.ts";

const CANARY = "canary-4711";
const ERASURE = { by: "ana", why: "request 12" };

const memoryText = ({ records, results }: MemoryStore, recordKey: string) =>
  JSON.stringify([
    records.get(recordKey) ?? null,
    [...results].filter(([address]) => address.startsWith(recordKey)),
  ]);

function memoryPair(commitsIn: "from" | "to") {
  const [from, to] = [new MemoryStore(), new MemoryStore()];
  const both = [from, to];
  const world: ErasedWorld = {
    store: commitsIn === "from" ? migrating<never>(from, to) : migrating<never>(from, to, { commitsIn }),
    hasSteps: true,
    held: async (recordKey) => both.map((each) => memoryText(each, recordKey)).join(),
    setVersion: async (recordKey, version) => {
      for (const each of both) each.alter(recordKey, { version });
    },
  };
  return { from, to, world };
}

describe.each(["from", "to"] as const)("between two stores, with commits in `%s`", (commitsIn) => {
  it.each(erasuresOf(true))("$name", ({ check }) => check(memoryPair(commitsIn).world));
});

describe("erasing during a move", () => {
  let table: DynamoDBStore;
  beforeAll(async () => {
    const client = connect(inject("dynamodbEngines")[0]!.endpoint);
    table = new DynamoDBStore({ tableName: await createOutboxTable(client), client });
  });

  it("H39, H69: a record whose end one store never got is erased there too, including its steps", async () => {
    const memory = new MemoryStore();
    const key = randomUUID();
    const { recordKey } = identify("pay", "", key);
    // The end never reaches the second store.
    const deaf = new Proxy(memory, {
      get(target, name) {
        if (name === "settle") return () => Promise.reject(new Error("away"));
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const options = { operation: "pay", leaseSeconds: 30 };
    await runOnce({ ...options, store: migrating(table, deaf) }, key, {}, async ({ step }) => {
      await step("one", () => `${CANARY} ${"x".repeat(20_000)}`);
      return CANARY;
    });
    expect(memory.records.get(recordKey)?.state).toBe("in-progress");
    expect(memoryText(memory, recordKey)).toContain(CANARY);

    const store = migrating(table, memory);
    expect(await eraseResult({ operation: "pay", store }, key, ERASURE)).toEqual({ erased: true });

    expect(memoryText(memory, recordKey)).not.toContain(CANARY);
    const again = runOnce({ ...options, store }, key, {}, () => expect.unreachable());
    await expect(again).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
    // The store that is moved to does not stand open either once it stands alone.
    const alone = runOnce({ ...options, store: memory }, key, {}, () => expect.unreachable());
    await expect(alone).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
  });

  it("H39: a store that is down is reported, and the next call finishes the erasure in both", async () => {
    const { from, to, world } = memoryPair("from");
    const key = randomUUID();
    const { recordKey } = identify("pay", "", key);
    await runOnce({ operation: "pay", store: world.store, leaseSeconds: 30 }, key, {}, () => CANARY);
    const down = new Proxy(to, {
      get(target, name) {
        if (name === "erase") return () => Promise.reject(new Error("away"));
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });

    const erasing = eraseResult({ operation: "pay", store: migrating(from, down) }, key, ERASURE);
    await expect(erasing).rejects.toThrow("away");
    expect(await eraseResult({ operation: "pay", store: world.store }, key, ERASURE)).toEqual({
      erased: true,
    });

    expect(await world.held(recordKey)).not.toContain(CANARY);
  });

  it("H39, H69: a record moved to the other store is erased there too, with who did it", async () => {
    const from = new MemoryStore();
    const key = randomUUID();
    const { recordKey } = identify("pay", "", key);
    await runOnce({ operation: "pay", store: from, leaseSeconds: 30 }, key, {}, () => CANARY);
    await eraseResult({ operation: "pay", store: from }, key, ERASURE);

    const left: unknown[] = [];
    for await (const each of unmigratedRecords({ from, to: table, recordKeys: [recordKey], migrate: true }))
      left.push(each);

    expect(left).toEqual([]);
    const record = await table.find(recordKey, { consistent: true });
    expect(record).toMatchObject({ state: "completed", evidence: from.records.get(recordKey)?.evidence });
    const again = runOnce({ operation: "pay", store: table, leaseSeconds: 30 }, key, {}, () =>
      expect.unreachable(),
    );
    await expect(again).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
  });
});

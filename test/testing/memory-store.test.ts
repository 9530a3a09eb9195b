import { MemoryStore, type MemoryWrite, storeContract } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { memorySubject } from "../kit/memory-subject.ts";

const NOW = 1_700_000_000_000;
const claim = {
  recordKey: "r",
  token: "t",
  fingerprint: "f",
  attempt: 1,
  createdAt: NOW,
  keepsSteps: false,
  now: NOW,
  leaseEndsAt: NOW + 1000,
  expiresAt: NOW / 1000 + 60,
};

describe("MemoryStore", () => {
  for (const { name, run } of storeContract(() => memorySubject())) it(name, run);

  it("reports that a result larger than maxResultBytes was not kept", async () => {
    const store = new MemoryStore({ maxResultBytes: 2000 });
    await store.claim(claim);

    await store.settle({ ...claim, state: "completed", result: "x".repeat(2001), writes: [], messages: [] });

    expect((await store.find("r", { consistent: true }))?.result).toEqual({ in: "nowhere", bytes: 2001 });
  });

  it("reports the database's time if it is given", async () => {
    expect(await new MemoryStore({ serverTime: () => 7 }).claim(claim)).toMatchObject({ serverTimeMs: 7 });
    expect(await new MemoryStore().claim(claim)).not.toHaveProperty("serverTimeMs");
  });

  it("returns copies: a caller's changes are not stored", async () => {
    const store = new MemoryStore();
    await store.claim(claim);
    const record = (await store.find("r", { consistent: true })) as { state: string };

    record.state = "completed";

    expect(await store.find("r", { consistent: true })).toMatchObject({ state: "in-progress" });
  });

  it("exposes its tables, and stores copies of the items", async () => {
    const store = new MemoryStore();
    const item = { total: 7 };
    const write: MemoryWrite = { table: "orders", key: "1", item };

    await store.insert({ ...claim, state: "completed", writes: [write], messages: [] });
    item.total = 8;

    expect(store.table("orders").get("1")).toEqual({ total: 7 });
    expect(store.table("others").size).toBe(0);
    expect([...store.records.keys()]).toEqual(["r"]);
  });

  it("shows the refused item of a write", async () => {
    const store = new MemoryStore();
    const write: MemoryWrite = { table: "orders", key: "1", item: { total: 7 }, condition: (item) => !item };
    await store.insert({ ...claim, state: "completed", writes: [write], messages: [] });

    const refused = store.insert({
      ...claim,
      recordKey: "s",
      state: "completed",
      writes: [write],
      messages: [],
    });

    await expect(refused).rejects.toMatchObject({ index: 0, item: { total: 7 } });
  });

  it("alters nothing if there is no record", () => {
    const store = new MemoryStore();

    store.alter("r", { state: "held" });

    expect(store.records.size).toBe(0);
  });

  it.each([
    undefined,
    7,
    { table: "t", key: "k" },
    { table: "t", item: {} },
    { key: "k", item: {} },
    { table: "t", key: "k", item: null },
    { table: "t", key: "k", item: {}, condition: true },
  ])("rejects %j as a write, and says which", (write) => {
    const good: MemoryWrite = { table: "t", key: "k", item: {} };

    expect(() =>
      new MemoryStore().checkEffects({ writes: [good, write as unknown as MemoryWrite], messages: [] }),
    ).toThrow("writes[1] must have table, key, item");
  });
});

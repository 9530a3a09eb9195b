// A lease that is kept in a record store: one of several processes has it at a time.
import { describe, expect, it } from "vitest";
import { isLease, storeLease } from "../../lib/core/store-lease.ts";
import { MemoryStore } from "../../lib/testing/index.ts";
import { answerLost, intercepted, watched } from "../kit/faults/faulty-store.ts";

const NOW = 1_700_000_000_400;
const UNTIL = NOW + 10_000;
/** Former versions of the package use the same key. */
const KEY = "#lease/_qOeD1FIjvnhdDFWtjgPj_CPe_ArsXSQ4bLAcsG06wY";
const ana = { id: "ana", now: NOW, until: UNTIL };
const ben = { id: "ben", now: NOW + 1, until: UNTIL + 1 };

describe("storeLease", () => {
  it("claims a record of its own, renews it and releases it", async () => {
    const memory = new MemoryStore();
    const { store, requests } = watched(memory);
    const lease = storeLease(store, "reconciler", "pay");

    expect(await lease(ana)).toBe(true);
    expect(await lease({ ...ana, until: UNTIL + 5000 })).toBe(true);
    expect(await lease({ ...ana, now: NOW + 2000, until: 0 })).toBe(true);

    const [recordKey = ""] = memory.records.keys();
    expect(recordKey).toBe(KEY);
    const own = { recordKey, token: "ana", expiresAt: 1_700_003_601 };
    expect(requests).toMatchObject([
      ["find", recordKey, { consistent: true }],
      ["claim", { ...own, leaseEndsAt: UNTIL }, undefined],
      ["renew", { ...own, leaseEndsAt: UNTIL + 5000 }],
      ["settle", { ...own, expiresAt: 1_700_003_603, state: "released", writes: [], messages: [] }],
    ]);
  });

  it("is held by one process until its end, or until it's released", async () => {
    const store = new MemoryStore();
    const [first, second, third] = [1, 2, 3].map(() => storeLease(store, "reconciler", "pay"));

    expect(await first?.(ana)).toBe(true);
    expect(await second?.(ben)).toBe(false);
    expect(await second?.({ ...ben, now: UNTIL + 1, until: UNTIL + 9000 })).toBe(true);
    expect(await first?.({ ...ana, now: UNTIL + 2, until: UNTIL + 9000 })).toBe(false);
    expect(await second?.({ ...ben, now: UNTIL + 3, until: 0 })).toBe(true);
    expect(await third?.({ id: "cleo", now: UNTIL + 4, until: UNTIL + 9000 })).toBe(true);
  });

  it("isn't taken if another process was first between its two requests", async () => {
    const store = new MemoryStore();
    const slower = storeLease(
      intercepted(store, async (method, request) => {
        if (method === "claim") await storeLease(store, "reconciler", "pay")(ana);
        return request();
      }),
      "reconciler",
      "pay",
    );

    expect(await slower(ben)).toBe(false);
    expect(await slower({ ...ben, now: UNTIL + 1, until: UNTIL + 9000 })).toBe(true);
  });

  it("H8: is taken if only the answer to its claim was lost", async () => {
    const store = new MemoryStore();

    expect(await storeLease(answerLost(store, "claim"), "reconciler", "pay")(ana)).toBe(true);
  });

  it("is another one for other names, or the same in another order", async () => {
    const store = new MemoryStore();

    for (const names of [["reconciler", "pay"], ["pay", "reconciler"], ["reconciler"]])
      expect(await storeLease(store, ...names)(ana)).toBe(true);
    expect([...store.records.keys()].every(isLease)).toBe(true);
    expect([isLease("pay##key"), isLease("pay##lease/"), isLease("pay##/#lease/")]).toEqual([
      false,
      false,
      false,
    ]);
  });
});

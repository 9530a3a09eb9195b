// What a rerun writes, what it retries, and what it refuses.
import { describe, expect, it } from "vitest";
import { identify } from "../../lib/core/identity.ts";
import type { IdempotencyRecord } from "../../lib/core/record.ts";
import { decisionIn, historyOf } from "../../lib/core/reopening.ts";
import { rerunRecord } from "../../lib/core/rerun-record.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import { cached } from "../../lib/stores/index.ts";
import { fakeClock, MemoryStore } from "../../lib/testing/index.ts";
import { failing, type StoreMethod, watched } from "../kit/faults/faulty-store.ts";

const ANA = { by: "ana", why: "ticket 7" };
const YEAR_SECONDS = 31_622_400;
const { recordKey } = identify("charge", "", "k");

/** A key whose handler has returned "done". */
async function completed() {
  const clock = fakeClock();
  const store = new MemoryStore();
  const options = { operation: "charge", store, leaseSeconds: 30, renewLease: false, clock };
  await runOnce(options, "k", {}, () => "done");
  await clock.advance(1500);
  const record = () => store.records.get(recordKey) as IdempotencyRecord;
  const put = (change: Partial<IdempotencyRecord>) =>
    (store.records as Map<string, IdempotencyRecord>).set(recordKey, { ...record(), ...change });
  return { clock, store, record, put };
}

describe("rerunRecord", () => {
  it("H90: reads the record itself, claims it for 30 seconds without its steps, and releases it for a year", async () => {
    const { clock, store } = await completed();
    const { store: watching, requests } = watched(store);

    expect(await rerunRecord({ store: watching, clock }, recordKey, ANA)).toEqual({ rerun: true });

    const now = clock.now();
    expect(requests).toMatchObject([
      ["find", recordKey, { consistent: true }],
      ["claim", { attempt: 2, keepsSteps: false, leaseEndsAt: now + 30_000 }, { attempt: 1 }],
      ["settle", { state: "released", isListed: true, writes: [], messages: [], now }],
    ]);
    expect(requests[2]?.[1]).toMatchObject({ expiresAt: Math.ceil(now / 1000) + YEAR_SECONDS });
  });

  it.each<StoreMethod>(["find", "claim", "settle"])("H8: tries %s again after a failure", async (method) => {
    const { clock, store, record } = await completed();
    const once = failing(store, method, "after", { times: 1 });

    expect(await clock.run(rerunRecord({ store: once, clock }, recordKey, ANA))).toEqual({ rerun: true });
    expect(record()).toMatchObject({ state: "released", attempt: 2 });
  });

  it("leaves a key as it is that was run again under another one", async () => {
    const { clock, store, put } = await completed();
    put({
      evidence: JSON.stringify({
        verdict: "unknown",
        by: "ana",
        at: 1,
        attempt: 1,
        fork: { to: "charge##f" },
      }),
    });

    expect(await rerunRecord({ store, clock }, recordKey, ANA)).toEqual({ rerun: false, state: "forked" });
  });

  it("refuses a call without a reason or a store, and a store that copies records", async () => {
    const { store } = await completed();
    const refused = (options: object, by: object) =>
      expect(rerunRecord(options as never, recordKey, by as never)).rejects;

    await refused({ store }, { by: "ana" }).toThrow("`why`");
    await refused({ store }, { why: "ticket 7" }).toThrow("`by`");
    await refused({}, ANA).toThrow("`store` must be");
    await refused({ store: cached(store) }, ANA).toThrow("`store` must be the store that holds the records");
  });
});

describe("decisionIn", () => {
  const decision = { by: "ana", at: 1, attempt: 1 };

  it.each<[string, IdempotencyRecord["state"], object, boolean]>([
    ["that it happened", "completed", { verdict: "happened" }, true],
    ["that it happened, about one step", "completed", { verdict: "happened", step: "pay" }, false],
    ["to erase the result", "completed", { verdict: "happened", asked: "to erase the result" }, false],
    [
      "to fork",
      "completed",
      { verdict: "happened", asked: "to run the operation again under another key" },
      false,
    ],
    ["that didn't end it", "completed", { verdict: "did-not-happen" }, false],
    ["that it did not happen", "released", { verdict: "did-not-happen" }, true],
    ["to release it", "released", { verdict: "unknown", asked: "to release the key" }, true],
    ["to run it again", "released", { verdict: "unknown", asked: "to run the key again" }, false],
    ["after which it failed", "failed", { verdict: "did-not-happen" }, false],
    ["before another attempt", "completed", { verdict: "happened", attempt: 0 }, false],
  ])("H90: of a key with the decision %s (%s)", async (_, state, change, isCurrent) => {
    const { record } = await completed();
    const evidence = JSON.stringify({ ...decision, ...change });

    const found = decisionIn({ ...record(), state, attempt: 2, evidence });

    expect(found).toEqual(isCurrent ? { ...decision, ...change } : undefined);
  });

  it("H90: is none for a key that its handler ended", async () => {
    const { record } = await completed();

    expect(decisionIn(record())).toBeUndefined();
  });
});

describe("historyOf", () => {
  it.each([
    [4096, true],
    [4097, false],
  ])("H90: keeps a result of %s characters: %s", async (length, isKept) => {
    const { store, record } = await completed();
    const text = "x".repeat(length);

    const [last] = historyOf(store, { ...record(), result: { in: "record", text } });

    expect(last?.was).toBe(isKept ? text : undefined);
  });
});

import { EventEmitter, once } from "node:events";
import { describe, expect, it } from "vitest";
import { OutcomeUnknownError } from "../../lib/core/errors.ts";
import { identify } from "../../lib/core/identity.ts";
import type { IdempotencyRecord } from "../../lib/core/record.ts";
import { releaseRecord } from "../../lib/core/release-record.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { MemoryStore } from "../../lib/testing/memory-store.ts";
import { intercepted } from "../kit/faults/faulty-store.ts";

const BY = { by: "ana", why: "ticket 7" };
const { recordKey } = identify("charge", "", "k");

async function held() {
  const store = new MemoryStore();
  const options = { operation: "charge", store, leaseSeconds: 30, whenAbandoned: "hold" as const };
  const failing = runOnce(options, "k", {}, () => {
    throw new OutcomeUnknownError();
  });
  await expect(failing).rejects.toThrow();
  return { store, options };
}

describe("releaseRecord", () => {
  it("releases a held key under a new token, and the record says who and why", async () => {
    const { store, options } = await held();

    expect(await releaseRecord({ store }, recordKey, BY)).toEqual({ released: true });

    const { evidence, ...record } = (await store.find(recordKey, { consistent: true }))!;
    expect(record).toMatchObject({ state: "released", attempt: 2 });
    expect(JSON.parse(`${evidence}`)).toMatchObject({ verdict: "unknown", by: "ana", answered: "ticket 7" });
    expect(await runOnce(options, "k", {}, () => "ran")).toBe("ran");
  });

  it("reports that another operator was first, between its two writes", async () => {
    const { store } = await held();
    const overtaken = intercepted(store, async (method, request) => {
      if (method !== "settle") return request();
      return { settled: false, record: await store.find(recordKey, { consistent: true }) };
    });

    const answer = await releaseRecord({ store: overtaken }, recordKey, BY);

    expect(answer).toEqual({ released: false, state: "in-progress" });
  });

  it("releases nothing for a key without a record", async () => {
    expect(await releaseRecord({ store: new MemoryStore() }, recordKey, BY)).toEqual({
      released: false,
      state: "absent",
    });
  });

  it("refuses a key whose step may have happened, and names the step", async () => {
    const store = new MemoryStore();
    const options = { operation: "charge", store, leaseSeconds: 30, whenAbandoned: "hold" as const };
    const failing = runOnce(options, "k", {}, ({ step }) =>
      step(
        "pay",
        () => {
          throw new OutcomeUnknownError();
        },
        { atMostOnce: true },
      ),
    );
    await expect(failing).rejects.toThrow();

    expect(await releaseRecord({ store }, recordKey, BY)).toEqual({
      released: false,
      state: "held",
      steps: ["pay"],
    });
  });

  it("H90: says until when a running attempt with an open step has the key, and refuses it afterwards too", async () => {
    const store = new MemoryStore();
    const options = { operation: "charge", store, leaseSeconds: 30, renewLease: false };
    const gate = new EventEmitter();
    const pay = () => once(gate, "opened").then(() => "paid");
    const running = runOnce(options, "k", {}, ({ step }) => step("pay", pay, { atMostOnce: true }));
    const find = () => store.find(recordKey, { consistent: true });
    await expect.poll(async () => (await find())?.steps?.pay?.state).toBe("begun");
    const { leaseEndsAt } = (await find())!;
    const open = { released: false, state: "in-progress", steps: ["pay"] };

    expect(await releaseRecord({ store }, recordKey, BY)).toEqual({ ...open, leaseEndsAt });
    const last = { store, clock: fakeClock(leaseEndsAt) };
    expect(await releaseRecord(last, recordKey, BY)).toEqual({ ...open, leaseEndsAt });
    const clock = fakeClock(leaseEndsAt + 1);
    expect(await releaseRecord({ store, clock }, recordKey, BY)).toEqual(open);

    gate.emit("opened");
    expect(await running).toBe("paid");
    expect(await releaseRecord({ store }, recordKey, BY)).toEqual({ released: false, state: "completed" });
  });

  it("keeps a key on the list whose tracked steps must be brought to an end", async () => {
    const store = new MemoryStore();
    const options = { operation: "charge", store, leaseSeconds: 30 };
    const stopped = runOnce(options, "k", {}, async ({ step }) => {
      await step("reserve", () => 1, { tracked: true });
      throw new TypeError("no connection");
    });
    await expect(stopped).rejects.toThrow(TypeError);

    expect(await releaseRecord({ store }, recordKey, BY)).toEqual({ released: true });

    const record = await store.find(recordKey, { consistent: true });
    expect(record).toMatchObject({ state: "released", attempt: 2 });
    expect(record?.expiresAt).toBeUndefined();
  });

  it.each(["completed", "failed"] as const)("names no step of a key that is %s", async (state) => {
    const { store } = await held();
    const record = (await store.find(recordKey, { consistent: true }))!;
    const steps = { pay: { state: "begun", attempt: 1, at: 1 } } as const;
    (store.records as Map<string, IdempotencyRecord>).set(recordKey, { ...record, state, steps });

    expect(await releaseRecord({ store }, recordKey, BY)).toEqual({ released: false, state });
  });

  it("interrupts an attempt that is in progress only if it is asked to", async () => {
    const store = new MemoryStore();
    const options = { operation: "charge", store, leaseSeconds: 30, renewLease: false };
    const gate = new EventEmitter();
    const running = runOnce(options, "k", {}, async () => {
      await once(gate, "opened");
      return "late";
    });
    while ((await store.find(recordKey, { consistent: true })) === undefined);

    expect(await releaseRecord({ store }, recordKey, BY)).toEqual({ released: false, state: "in-progress" });
    expect(await releaseRecord({ store }, recordKey, { ...BY, interrupts: true })).toEqual({
      released: true,
    });
    gate.emit("opened");
    await expect(running).rejects.toMatchObject({ code: "CLAIM_LOST" });
  });

  it.each([
    [{ by: "ana" }, "`why`"],
    [{ ...BY, interrupts: "yes" }, "`interrupts`"],
    [{ ...BY, retentionSeconds: 1 }, "`retentionSeconds` isn't an option"],
  ])("refuses %j before any request", async (release, message) => {
    const { store } = await held();

    await expect(releaseRecord({ store }, recordKey, release as never)).rejects.toThrow(message);
    await expect(releaseRecord({} as never, recordKey, BY)).rejects.toThrow("`store`");
  });
});

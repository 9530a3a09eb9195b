import { describe, expect, it } from "vitest";
import { OutcomeUnknownError, PermanentError } from "../../lib/core/errors.ts";
import { identify } from "../../lib/core/identity.ts";
import type { IdempotencyRecord } from "../../lib/core/record.ts";
import { releaseRecord } from "../../lib/core/release-record.ts";
import { rerunRecord } from "../../lib/core/rerun-record.ts";
import { type Resolution, resolveRecord } from "../../lib/core/resolve-outcome.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import { httpIdempotent } from "../../lib/lambda/http/http.ts";
import { cached, migrating } from "../../lib/stores/index.ts";
import { MemoryStore } from "../../lib/testing/memory-store.ts";
import { answerLost, intercepted } from "../kit/faults/faulty-store.ts";

const ANA = { by: "ana", why: "no charge in the list" };
const BEN = { by: "ben", why: "ch_1 on the second page" };
const { recordKey } = identify("charge", "", "k");

async function held(more: { store?: MemoryStore } = {}) {
  const { store = new MemoryStore() } = more;
  const options = { operation: "charge", store, leaseSeconds: 30, whenAbandoned: "hold" as const };
  const unknown = () => Promise.reject(new OutcomeUnknownError());
  await expect(runOnce(options, "k", {}, unknown)).rejects.toThrow(OutcomeUnknownError);
  const call = (work: () => unknown = () => "ran") => runOnce(options, "k", {}, work);
  const record = async () => (await store.find(recordKey, { consistent: true }))!;
  const evidence = async () => JSON.parse(`${(await record()).evidence}`);
  return { store, call, record, evidence };
}

/** Another writer's record. */
function put(store: MemoryStore, record: IdempotencyRecord) {
  (store.records as Map<string, IdempotencyRecord>).set(recordKey, record);
}

const happened = (result: unknown, who = BEN): Resolution => ({ outcome: "happened", result, ...who });
const didNotHappen = (who = ANA): Resolution => ({ outcome: "did-not-happen", ...who });
const correcting = (resolution: Resolution): Resolution => ({ ...resolution, evenThoughAnswered: true });

describe("resolveRecord, of a key that was decided before", () => {
  it("H90: leaves the first decision as it is, and reports who made it", async () => {
    const { store, call } = await held();
    await resolveRecord({ store }, recordKey, happened("ch_2", ANA));

    expect(await resolveRecord({ store }, recordKey, happened("ch_1"))).toEqual({
      resolved: false,
      state: "completed",
      decided: { verdict: "happened", by: "ana", at: expect.any(Number) },
    });
    expect(await call()).toBe("ch_2");
  });

  it("H90: corrects the answer with `evenThoughAnswered`, in one write, and keeps the previous decision", async () => {
    const { store, call, record, evidence } = await held();
    await resolveRecord({ store }, recordKey, happened("ch_2", ANA));
    const writes: string[] = [];
    const watched = intercepted(store, (method, request) => {
      if (method !== "find") writes.push(method);
      return request();
    });

    expect(await resolveRecord({ store: watched }, recordKey, correcting(happened("ch_1")))).toEqual({
      resolved: true,
    });

    expect(writes).toEqual(["insert"]);
    expect(await call()).toBe("ch_1");
    expect(await record()).toMatchObject({ state: "completed", attempt: 3 });
    expect(await evidence()).toMatchObject({
      verdict: "happened",
      by: "ben",
      past: [{ state: "completed", verdict: "happened", by: "ana", answered: ANA.why, was: '"ch_2"' }],
    });
  });

  it("H90: lets a retry run after an effect that did not happen after all", async () => {
    const { store, call, evidence } = await held();
    await resolveRecord({ store }, recordKey, happened("ch_2", ANA));

    expect(await resolveRecord({ store }, recordKey, correcting(didNotHappen(BEN)))).toEqual({
      resolved: true,
    });

    expect(await call()).toBe("ran");
    expect(await evidence()).toMatchObject({ by: "ben", past: [{ by: "ana", was: '"ch_2"' }] });
  });

  it.each([
    ["a decision that it did not happen", didNotHappen()],
    ["a release", undefined],
  ])("H90: completes a key after %s, if no attempt has run since", async (_, first) => {
    const { store, call } = await held();
    if (first) await resolveRecord({ store }, recordKey, first);
    else await releaseRecord({ store }, recordKey, ANA);

    expect(await resolveRecord({ store }, recordKey, correcting(happened("ch_1")))).toEqual({
      resolved: true,
    });

    expect(await call()).toBe("ch_1");
  });

  it("H90: leaves a key as it is whose handler has run since", async () => {
    const { store, call } = await held();
    await resolveRecord({ store }, recordKey, didNotHappen());
    await expect(call(() => Promise.reject(new TypeError("no connection")))).rejects.toThrow(TypeError);

    expect(await resolveRecord({ store }, recordKey, correcting(happened("ch_1")))).toEqual({
      resolved: false,
      state: "released",
    });
    await call(() => "by itself");
    expect(await resolveRecord({ store }, recordKey, correcting(happened("ch_1")))).toEqual({
      resolved: false,
      state: "completed",
    });
    expect(await call()).toBe("by itself");
  });

  it("H8: treats a correction whose response was lost as done", async () => {
    const { store, call } = await held();
    await resolveRecord({ store }, recordKey, happened("ch_2", ANA));

    for (const resolution of [happened("ch_1"), didNotHappen()])
      for (const method of ["insert", "claim", "settle"] as const) {
        const losing = answerLost(store, method);
        expect(await resolveRecord({ store: losing }, recordKey, correcting(resolution))).toEqual({
          resolved: true,
        });
      }

    expect(await call()).toBe("ran");
  });

  it("H90: reports the record's actual state if another process was first", async () => {
    const { store, record } = await held();
    await resolveRecord({ store }, recordKey, happened("ch_2", ANA));
    const other = { ...(await record()), state: "held" as const };
    const overtaken = (method: "claim" | "insert", answer: object) =>
      intercepted(store, async (each, request) => (each === method ? (answer as never) : request()));

    const claimed = overtaken("claim", { won: false, record: other });
    const inserted = overtaken("insert", { settled: false, record: other });

    const refused = { resolved: false, state: "held" };
    expect(await resolveRecord({ store: claimed }, recordKey, correcting(didNotHappen()))).toEqual(refused);
    expect(await resolveRecord({ store: inserted }, recordKey, correcting(happened("ch_1")))).toEqual(
      refused,
    );
  });

  it("H90: keeps the last five decisions, and only the last result", async () => {
    const { store, evidence } = await held();
    for (let each = 0; each < 7; each++)
      await resolveRecord({ store }, recordKey, correcting(happened(`ch_${each}`)));

    const { past } = await evidence();
    expect(past).toHaveLength(5);
    expect(past.map(({ was }: { was?: string }) => was)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      '"ch_5"',
    ]);
  });

  it("H90: keeps no result that is long", async () => {
    const { store, evidence } = await held();
    await resolveRecord({ store }, recordKey, happened("x".repeat(5000)));
    await resolveRecord({ store }, recordKey, correcting(happened("ch_1")));

    expect((await evidence()).past).toEqual([expect.not.objectContaining({ was: expect.anything() })]);
  });

  it("H90: survives evidence that another writer left", async () => {
    const { store, record } = await held();
    await resolveRecord({ store }, recordKey, happened("ch_2", ANA));
    const found = await record();
    const odd = { ...JSON.parse(`${found.evidence}`), past: "none" };
    put(store, { ...found, evidence: JSON.stringify(odd) });

    expect(await resolveRecord({ store }, recordKey, correcting(happened("ch_1")))).toEqual({
      resolved: true,
    });
  });

  it("H90: carries the history on when the outcome becomes unknown again", async () => {
    const { store, call, evidence } = await held();
    await resolveRecord({ store }, recordKey, happened("ch_2", ANA));
    await resolveRecord({ store }, recordKey, correcting(didNotHappen(BEN)));
    await expect(call(() => Promise.reject(new OutcomeUnknownError()))).rejects.toThrow(OutcomeUnknownError);

    await releaseRecord({ store }, recordKey, ANA);

    expect((await evidence()).past).toMatchObject([{ by: "ana" }]);
  });

  it("refuses a step, and stores that others stand in front of", async () => {
    const { store } = await held();
    const refused = (other: typeof store | ReturnType<typeof cached>, resolution: Resolution) =>
      expect(resolveRecord({ store: other as MemoryStore }, recordKey, resolution)).rejects;

    await refused(store, { ...correcting(happened(1)), step: "pay" }).toThrow("correct the whole key");
    await refused(cached(store), correcting(happened(1))).toThrow("without `cached` or `migrating`");
    const both = migrating(store, new MemoryStore() as never);
    await refused(both, correcting(happened(1))).toThrow("without `cached` or `migrating`");
  });

  it("says that there is no record, or none any more", async () => {
    const { store, record } = await held();
    await resolveRecord({ store }, recordKey, happened("ch_2", ANA));
    put(store, { ...(await record()), expiresAt: 1 });

    const gone = { resolved: false, state: "absent" };
    expect(await resolveRecord({ store }, recordKey, correcting(happened(1)))).toEqual(gone);
    expect(await resolveRecord({ store }, "other##x", correcting(happened(1)))).toEqual(gone);
  });
});

describe("resolveRecord, of an HTTP operation", () => {
  const http = {
    requestContext: { http: { method: "POST" } },
    headers: { "idempotency-key": "k" },
    body: "{}",
  };

  async function heldHttp() {
    const store = new MemoryStore();
    let work: () => unknown = () => Promise.reject(new OutcomeUnknownError());
    const handler = httpIdempotent(() => work() as never, {
      ...{ operation: "charge", store, scope: "public", whenAbandoned: "hold", leaseSeconds: 30 },
    });
    const call = () => handler({ version: "2.0", rawPath: "/charges", ...http } as never, {} as never);
    expect(await call()).toMatchObject({ statusCode: 409 });
    work = () => ({ statusCode: 201, body: "ran" });
    return { store, call };
  }

  it.each([[{ charge: "ch_1" }], [null], [{ statusCode: 99 }], [{ statusCode: 201, body: {} }]])(
    "H90: refuses an answer that its callers couldn't read: %j",
    async (result) => {
      const { store, call } = await heldHttp();

      await expect(resolveRecord({ store }, recordKey, happened(result))).rejects.toThrow(
        "must be the response that callers of this HTTP operation get",
      );
      expect(await call()).toMatchObject({ statusCode: 409 });
    },
  );

  it("H90: rejects it in a correction too, and accepts a response", async () => {
    const { store, call } = await heldHttp();
    const response = (body: string) => happened({ statusCode: 201, body });
    await resolveRecord({ store }, recordKey, response("ch_2"));
    expect(await call()).toMatchObject({ statusCode: 201, body: "ch_2" });

    await expect(resolveRecord({ store }, recordKey, correcting(happened("ch_1")))).rejects.toThrow(
      "`result`",
    );
    await resolveRecord({ store }, recordKey, correcting(response("ch_1")));

    expect(await call()).toMatchObject({ statusCode: 201, body: "ch_1" });
    await resolveRecord({ store }, recordKey, correcting(didNotHappen()));
    expect(await call()).toMatchObject({ statusCode: 201, body: "ran" });
  });
});

describe("rerunRecord", () => {
  const options = (store: MemoryStore) => ({ operation: "charge", store, leaseSeconds: 30 });
  const rerun = (store: MemoryStore) => rerunRecord({ store }, recordKey, ANA);

  it("H90: runs a key again that ended with a final error, and keeps the error in the evidence", async () => {
    const store = new MemoryStore();
    const declined = () => Promise.reject(new PermanentError("declined"));
    await expect(runOnce(options(store), "k", {}, declined)).rejects.toThrow("declined");
    await expect(runOnce(options(store), "k", {}, () => "ran")).rejects.toThrow("declined");

    expect(await rerun(store)).toEqual({ rerun: true });

    expect(await runOnce(options(store), "k", {}, ({ attempt }) => attempt)).toBe(3);
    const { evidence } = store.records.get(recordKey)!;
    expect(JSON.parse(`${evidence}`)).toMatchObject({
      ...{ verdict: "unknown", by: "ana", asked: "to run the key again", answered: ANA.why },
      past: [{ state: "failed", by: "handler", was: expect.stringContaining("declined") }],
    });
  });

  it("H90: runs a completed key again, once", async () => {
    const store = new MemoryStore();
    const runs: number[] = [];
    const call = () => runOnce(options(store), "k", {}, ({ attempt }) => runs.push(attempt ?? 0));
    await call();
    await rerun(store);
    await Promise.allSettled([call(), call()]);

    expect(runs).toEqual([1, 3]);
    expect(await rerun(store)).toEqual({ rerun: true });
    expect(await rerun(store)).toEqual({ rerun: false, state: "released" });
  });

  it("leaves a key as it is whose messages wait, and one that isn't finished", async () => {
    const store = new MemoryStore();
    expect(await rerun(store)).toEqual({ rerun: false, state: "absent" });
    const message = {
      queue: "https://sqs.eu-central-1.amazonaws.com/123456789012/q.fifo",
      key: "k",
      group: "g",
      body: 1,
    };
    await runOnce(options(store), "k", {}, ({ commit }) => commit(1, { messages: [message] }));

    expect(await rerun(store)).toEqual({ rerun: false, state: "waiting" });
  });

  it("says what was there instead, where another process was first", async () => {
    const store = new MemoryStore();
    await runOnce(options(store), "k", {}, () => 1);
    const overtaken = (method: "claim" | "settle", answer: object) =>
      intercepted(store, async (each, request) => (each === method ? (answer as never) : request()));
    const other = (await store.find(recordKey, { consistent: true }))!;

    const lost = { won: false, record: { ...other, state: "held" } };
    expect(await rerunRecord({ store: overtaken("claim", lost) }, recordKey, ANA)).toEqual({
      rerun: false,
      state: "held",
    });
    expect(await rerunRecord({ store: overtaken("claim", { won: false }) }, recordKey, ANA)).toEqual({
      rerun: false,
      state: "absent",
    });
    expect(await rerunRecord({ store: overtaken("settle", { settled: false }) }, recordKey, ANA)).toEqual({
      rerun: false,
      state: "absent",
    });
  });
});

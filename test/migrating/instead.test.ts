// What to write in the place of options and adapters that onceonly does not have.
import { createHash } from "node:crypto";
import { type DecisionEvent, idempotent, runOnce } from "onceonly";
import { MemoryStore } from "onceonly/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { newContext } from "./world.ts";

let store: MemoryStore;
let runs: number;

beforeEach(() => {
  store = new MemoryStore();
  runs = 0;
});

describe("runOnce", () => {
  it("is `dataIndexArgument`: any argument is key and payload of any function", async () => {
    const options = { operation: "charge", store, leaseSeconds: 30 };
    const charge = async (_tenant: string, order: { id: string; cents: number }) =>
      runOnce(options, order.id, order, () => ({ ...order, run: ++runs }));

    const answers = [await charge("ann", { id: "1", cents: 5 }), await charge("bob", { id: "1", cents: 5 })];

    expect(answers).toEqual([answers[0], { id: "1", cents: 5, run: 1 }]);
    await expect(charge("ann", { id: "1", cents: 6 })).rejects.toMatchObject({
      code: "FINGERPRINT_MISMATCH",
    });
  });

  it("is `registerLambdaContext`: the lease of an inner function is the time that is left", async () => {
    const charge = (id: string, remainingMs: number) =>
      runOnce(
        { operation: "charge", store, leaseSeconds: Math.ceil(remainingMs / 1000) },
        id,
        {},
        () => ++runs,
      );

    await charge("1", 12_000);

    const [record] = store.records.values();
    expect((record?.leaseEndsAt ?? 0) - (record?.createdAt ?? 0)).toBe(12_000 + 5000);
  });

  it("is `responseHook`: `replayed` distinguishes a replay from a first answer", async () => {
    const options = { operation: "charge", store, leaseSeconds: 30 };
    async function charge(id: string) {
      const { result, replayed } = await runOnce({ ...options, returns: "outcome" }, id, {}, () => ({
        run: ++runs,
      }));
      return replayed ? { ...result, replayed } : result;
    }

    expect([await charge("1"), await charge("1")]).toEqual([{ run: 1 }, { run: 1, replayed: true }]);
  });
});

describe("idempotent", () => {
  const deploy = <Event>(key: (event: Event) => string | undefined, more: object = {}) =>
    idempotent(async (_event: Event) => ++runs, { operation: "charge", store, key, ...more });

  it("is `powertools_json(body).id`: the key is read by code, also out of a text", async () => {
    const handler = deploy<{ body: string }>(({ body }) => JSON.parse(body).id, {
      fingerprint: ({ body }: { body: string }) => JSON.parse(body),
    });

    const answers = [
      await handler({ body: '{"id":"1","cents":5}' }, newContext()),
      await handler({ body: '{ "cents": 5, "id": "1" }' }, newContext()),
      await handler({ body: '{"id":"2","cents":5}' }, newContext()),
    ];

    expect(answers).toEqual([1, 1, 2]);
  });

  it("is `[user, product]`: several fields make one text, and none of them may be missing", async () => {
    interface Sale {
      readonly user?: string;
      readonly product?: string;
    }
    const handler = deploy<Sale>(({ user, product }) => (user && product ? `${user}/${product}` : undefined));

    const answers = [
      await handler({ user: "ann", product: "book" }, newContext()),
      await handler({ product: "book", user: "ann" }, newContext()),
      await handler({ user: "ann", product: "pen" }, newContext()),
    ];

    expect(answers).toEqual([1, 1, 2]);
    await expect(handler({ user: "ann" }, newContext())).rejects.toMatchObject({
      code: "IDEMPOTENCY_KEY_MISSING",
    });
  });

  it("is a key of the whole event: a hash of what counts", async () => {
    const handler = deploy<{ cents: number }>((event) =>
      createHash("sha256").update(JSON.stringify(event)).digest("hex"),
    );

    const answers = [
      await handler({ cents: 5 }, newContext()),
      await handler({ cents: 5 }, newContext()),
      await handler({ cents: 6 }, newContext()),
    ];

    expect(answers).toEqual([1, 1, 2]);
  });

  it("replaces a missing `payloadValidationJmesPath`: an empty fingerprint lets every payload replay", async () => {
    const handler = deploy<{ id: string; cents: number }>(({ id }) => id, { fingerprint: () => "" });

    const answers = [
      await handler({ id: "1", cents: 5 }, newContext()),
      await handler({ id: "1", cents: 6 }, newContext()),
    ];

    expect(answers).toEqual([1, 1]);
  });

  it("is `POWERTOOLS_IDEMPOTENCY_DISABLED`: a test gives a store in memory and keys of its own", async () => {
    const reported: DecisionEvent[] = [];
    const handler = deploy<{ id: string }>(({ id }) => id, {
      observe: (event: DecisionEvent) => reported.push(event),
    });

    expect([await handler({ id: "a" }, newContext()), await handler({ id: "b" }, newContext())]).toEqual([
      1, 2,
    ]);
    expect(reported.map(({ decision }) => decision)).toEqual(["executed", "executed"]);
  });
});

// A key service that is late, down and back while many callers run: each effect happens once, and no caller is stuck.
import { ResultNotKeptError, runOnce } from "onceonly";
import { describe, expect, it } from "vitest";
import { StoreUnavailableError } from "../../lib/core/errors.ts";
import { identify } from "../../lib/core/identity.ts";
import type { DataKey } from "../../lib/stores/data-keys.ts";
import { encrypted } from "../../lib/stores/encrypted.ts";
import { claimOf, settlementOf } from "../../lib/testing/contract/given.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { MemoryStore } from "../../lib/testing/memory-store.ts";
import { type Gate, gate } from "../kit/time/gate.ts";
import { inTier } from "../setup/tier.ts";
import { keyService } from "./privacy-given.ts";

const REUSE_SECONDS = 10;
const DOWN = new Error("no answer from the key service");
const never = () => expect.unreachable("it ran again");

/** A shop whose key service answers when the test says so. */
function newWorld() {
  const keys = keyService();
  const clock = fakeClock();
  const plain = new MemoryStore();
  let late: Gate<void> | undefined;
  const runs = new Map<string, number>();
  const slow = {
    ...keys,
    generate: async (context: Parameters<typeof keys.generate>[0]): Promise<DataKey> => {
      await late?.opened;
      return keys.generate(context);
    },
  };
  const store = encrypted(plain, { keys: slow, clock, reuseKeysSeconds: REUSE_SECONDS });
  const options = { operation: "pay", store, clock, leaseSeconds: 600 } as const;
  return {
    keys,
    clock,
    plain,
    store,
    options,
    /** From now on the key service answers nothing, until the gate opens or fails. */
    delay: () => {
      late = gate();
      late.opened.catch(() => {});
      return late;
    },
    onTime: () => {
      late = undefined;
    },
    call: (key: string, scope = "acme", meanwhile: Promise<unknown> = Promise.resolve()) =>
      runOnce({ ...options, scope }, key, {}, async () => {
        const name = `${scope} ${key}`;
        runs.set(name, (runs.get(name) ?? 0) + 1);
        await meanwhile;
        return name;
      }),
    /** How many handlers ran, and how many of them more than once. */
    counted: () => ({ ran: runs.size, doubled: [...runs.values()].filter((count) => count > 1).length }),
  };
}

const names = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

describe("a key service that fails while handlers run", () => {
  it.each([10, 64])(
    "H97: N2: %i callers of one scope record their results under the previous data key",
    async (count) => {
      const { call, clock, delay, onTime, counted } = newWorld();
      const handlers = gate();
      const keys = names(count, "order");
      const first = Promise.all(keys.map((key) => call(key, "acme", handlers.opened)));
      await clock.advance((REUSE_SECONDS + 1) * 1000);
      // Another caller asks for a new key. The answer is late, then there is none.
      const late = delay();
      const another = call("another");
      await clock.advance(0);
      handlers.open();

      // Nobody waits for it who has a result to record.
      const answers = await first;
      await clock.advance(1000);
      late.fail(DOWN);
      await another;
      onTime();

      expect(await Promise.all(keys.map((key) => call(key)))).toEqual(answers);
      expect(counted()).toEqual({ ran: count + 1, doubled: 0 });
    },
  );

  it("H97: N3: more than 1,000 owners in flight each keep the data key they began with", async () => {
    const count = inTier(1100, 2000);
    const { call, clock, keys, counted } = newWorld();
    const handlers = gate();
    const scopes = names(count, "tenant");
    const first = Promise.all(scopes.map((scope) => call("order", scope, handlers.opened)));
    await clock.advance(0);
    keys.failure = DOWN;
    await clock.advance((REUSE_SECONDS + 1) * 1000);
    handlers.open();
    const answers = await first;
    keys.failure = undefined;

    expect(await Promise.all(scopes.map((scope) => call("order", scope)))).toEqual(answers);
    expect(counted()).toEqual({ ran: count, doubled: 0 });
  });

  it("H97: 64 callers of one scope and many owners, late, down and back: no effect twice, no caller stuck", async () => {
    const { call, clock, keys, delay, onTime, counted } = newWorld();
    const [one, many] = [names(64, "order"), names(inTier(200, 2000), "tenant")];
    const all = one.length + many.length;
    let [answered, refused] = [0, 0];
    const round = async (during: () => Promise<void>) => {
      const handlers = gate();
      const begun = [
        ...one.map((key) => call(key, "acme", handlers.opened)),
        ...many.map((scope) => call("order", scope, handlers.opened)),
      ];
      const calls = begun.map((each) =>
        each.then(
          () => answered++,
          (error) => {
            expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true });
            refused++;
          },
        ),
      );
      await during();
      handlers.open();
      await clock.run(Promise.all(calls));
    };

    // Late by a second, then down while handlers run.
    let late = delay();
    await round(async () => {
      await clock.advance(1000);
      late.open();
      await clock.advance(0);
      keys.failure = DOWN;
      await clock.advance((REUSE_SECONDS + 1) * 1000);
    });
    // Down: the same calls again, which replay or are refused.
    await round(async () => {});
    // Late again, with no answer but a failure; and back.
    late = delay();
    await round(async () => {
      await clock.advance(1000);
      late.fail(DOWN);
    });
    onTime();
    keys.failure = undefined;
    await round(async () => {});

    // While the key service is down nothing that is sealed can be opened. The callers come again.
    expect([answered, refused]).toEqual([2 * all, 2 * all]);
    expect(counted()).toEqual({ ran: all, doubled: 0 });
  });

  it("H97: an attempt whose data key is gone records that its result is not kept, and nothing runs again", async () => {
    const { store, keys, clock, plain } = newWorld();
    const { recordKey } = identify("pay", "acme", "order");
    await store.claim(claimOf(recordKey));
    // As in a process that never asked for a key of this owner.
    const other = encrypted(plain, { keys, clock });
    keys.failure = DOWN;

    const settled = await other.settle(settlementOf(recordKey, { result: '"secret"' }));

    expect(settled).toEqual({ settled: true });
    expect(await plain.find(recordKey, { consistent: true })).toMatchObject({
      state: "completed",
      result: { in: "record", text: "not kept" },
    });
  });

  it("H97: an attempt without a data key doesn't wait for a key service that never answers", async () => {
    const { store, clock, delay } = newWorld();
    const { recordKey } = identify("pay", "acme", "order");
    delay();
    const settling = store.settle(settlementOf(recordKey, { result: '"secret"' }));

    expect(await clock.run(settling)).toMatchObject({ settled: false });
  });
});

describe("a key service that fails before handlers run", () => {
  it("H97: refuses a claim after 10 seconds without an answer, and the handler does not run", async () => {
    const { options, clock, delay } = newWorld();
    delay();

    const call = runOnce(options, "order", {}, never);

    await expect(clock.run(call)).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      failure: "unreachable",
    });
    expect(clock.now()).toBe(fakeClock().now() + 10_000);
  });

  it("H97: a key that is done stays done, also with whenStoreFails: run, whether its result can be opened or not", async () => {
    const { call, keys, options, plain, clock } = newWorld();
    await call("order");
    keys.failure = DOWN;
    // A process that has no data key of this owner.
    const store = encrypted(plain, { keys, clock });
    const again = runOnce({ ...options, scope: "acme", store, whenStoreFails: "run" }, "order", {}, never);

    await expect(again).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    // Nothing is on record: that may run.
    expect(await runOnce({ ...options, store, whenStoreFails: "run" }, "new", {}, () => 1)).toBe(1);
    keys.failure = undefined;
    await expect(runOnce({ ...options, store }, "new", {}, never)).rejects.toBeInstanceOf(ResultNotKeptError);
  });

  it("refuses new runs when the key is refused, and records those that have begun under the previous data key", async () => {
    const { call, clock, keys } = newWorld();
    const handler = gate();
    const begun = call("begun", "acme", handler.opened);
    await clock.advance((REUSE_SECONDS + 1) * 1000);
    keys.failure = new StoreUnavailableError("refused", new Error("DisabledException"));

    await expect(call("new")).rejects.toMatchObject({ failure: "refused" });
    handler.open();
    const answer = await begun;
    keys.failure = undefined;
    expect(await call("begun")).toBe(answer);
  });

  it.each([
    ["no key", undefined],
    ["a key of another length", { plain: Buffer.alloc(16), encrypted: Buffer.alloc(16) }],
    ["an encrypted key that is too long", { plain: Buffer.alloc(32), encrypted: Buffer.alloc(1001) }],
  ])("H97: that returns %s is refused before the handler runs", async (_, key) => {
    const { options, plain, keys } = newWorld();
    const store = encrypted(plain, { keys: { ...keys, generate: async () => key as DataKey } });

    await expect(runOnce({ ...options, store }, "order", {}, never)).rejects.toThrow(
      "`generate` must return a `plain` key of 32 bytes",
    );
  });

  it("an optimistic commit waits for a key, since nothing has happened before it", async () => {
    const { options, keys, clock } = newWorld();
    keys.failure = DOWN;
    let runs = 0;
    const commit = () =>
      runOnce({ ...options, mode: "optimistic" }, "order", {}, async (execution) => {
        runs++;
        return execution.commit("done", {
          writes: [{ table: "orders", key: "1", item: {} }],
        });
      });
    const first = commit();
    await clock.advance(100);
    keys.failure = undefined;

    expect(await clock.run(first)).toBe("done");
    expect([await commit(), runs]).toEqual(["done", 1]);
  });
});

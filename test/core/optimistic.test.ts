import { describe, expect, it } from "vitest";
import {
  ClaimLostError,
  ExecutionInProgressError,
  FingerprintMismatchError,
  PermanentError,
  StoreUnavailableError,
} from "../../lib/core/errors.ts";
import type { Execution } from "../../lib/core/execution.ts";
import type { Insertion } from "../../lib/core/store.ts";
import type { MemoryWrite } from "../../lib/testing/index.ts";
import { failing, intercepted } from "../kit/faults/faulty-store.ts";
import { gate } from "../kit/time/gate.ts";
import { counting, newWorld } from "./world.ts";

type Work = Execution<MemoryWrite>;

const optimistic = (options: Parameters<typeof newWorld>[0] = {}) =>
  newWorld({ mode: "optimistic", ...options });

describe("perform, optimistic", () => {
  it("looks, runs, and inserts: two requests; a replay is one", async () => {
    const world = optimistic();
    const { requests, store } = counting(world);

    await world.call(async () => "done", { store });
    expect(requests.splice(0)).toEqual(["find", "insert"]);
    expect(await world.call(async () => "never", { store })).toBe("done");

    expect(requests).toEqual(["find"]);
  });

  it("lookFirst: false makes the first run one request, and a replay runs in vain", async () => {
    const world = optimistic({ lookFirst: false });
    const { requests, store } = counting(world);
    let runs = 0;
    const work = ({ commit }: Work) => commit(++runs, { writes: [world.orderWrite()] });

    expect(await world.call(work, { store })).toBe(1);
    expect(requests.splice(0)).toEqual(["insert"]);
    expect(await world.call(work, { store })).toBe(1);

    expect(world.orders()).toBe(1);
    expect(world.decisions()).toEqual(["executed", "claim-lost", "replayed"]);
  });

  it("needs no lease", async () => {
    expect(await optimistic({ leaseSeconds: undefined }).call(async () => 1)).toBe(1);
  });

  it("gives up recording after 30 seconds if no deadline is known", async () => {
    const world = optimistic({ leaseSeconds: undefined });

    const call = world.call(async () => "done", { store: failing(world.memory, "insert", "before") });

    expect(await call).toBe("done");
    expect(world.decisions().at(-1)).toBe("completion-lost");
    expect(world.clock.now() - 1_700_000_000_000).toBeGreaterThan(25_000);
    expect(world.clock.now() - 1_700_000_000_000).toBeLessThan(30_000);
  });

  it("an error that is not final leaves no record, and a retry runs", async () => {
    const world = optimistic();

    await expect(world.call(() => Promise.reject(new Error("again")))).rejects.toThrow("again");

    expect(world.memory.records.size).toBe(0);
    expect(await world.call(async () => "retry")).toBe("retry");
  });

  it("records and replays a final error", async () => {
    const world = optimistic();

    await expect(world.call(() => Promise.reject(new PermanentError("no")))).rejects.toThrow("no");

    await expect(world.call(async () => "never")).rejects.toThrow("no");
  });

  it("of a value and a simultaneous final error the first that is recorded is the answer of both", async () => {
    const world = optimistic();
    const { opened, open } = gate();
    const fails = world.start(async () => {
      await opened;
      throw new PermanentError("no");
    });
    const succeeds = world.start(async () => "done");
    await succeeds;

    open();

    expect((await fails).result).toBe("done");
  });

  it("refuses another payload, found before the run or when inserting", async () => {
    const world = optimistic();
    await world.call(async () => "done");

    for (const lookFirst of [true, false]) {
      await expect(world.call(async () => "never", { lookFirst }, { input: "other" })).rejects.toThrow(
        FingerprintMismatchError,
      );
    }
  });

  it("respects a live claim of the claimed mode, found before the run or when inserting", async () => {
    const world = optimistic();
    world.start(() => new Promise(() => {}), { mode: "claimed" });
    await world.clock.advance(0);

    await expect(world.call(async () => "never")).rejects.toThrow(ExecutionInProgressError);
    await expect(
      world.call(({ commit }: Work) => commit(1, { writes: [world.orderWrite()] }), { lookFirst: false }),
    ).rejects.toThrow(ClaimLostError);

    expect(world.orders()).toBe(0);
  });

  it("takes over from a claim whose lease has ended, and fences it", async () => {
    const world = optimistic();
    const { opened, open } = gate<string>();
    const zombie = world.start(() => opened, { mode: "claimed" });
    await world.clock.advance(35_001);

    expect(await world.call(async () => "winner")).toBe("winner");
    open("zombie");

    expect((await zombie).result).toBe("winner");
  });

  it("H14: a stale look costs a run, never a second effect", async () => {
    const world = optimistic();
    const stale = intercepted(world.memory, async (method, request) =>
      method === "find" ? undefined : request(),
    );
    const work =
      (result: string) =>
      ({ commit }: Work) =>
        commit(result, { writes: [world.orderWrite()] });
    await world.call(work("first"));

    expect(await world.call(work("second"), { store: stale })).toBe("first");
    expect(world.orders()).toBe(1);
  });

  it("H14: the look may be stale, decisions are not", async () => {
    const world = newWorld({ whenInProgress: { waitSeconds: 5 } });
    const reads: unknown[] = [];
    const store = intercepted(world.memory, async (method, request, parameters) => {
      if (method === "find") reads.push(parameters[1]);
      return request();
    });

    await world.call(async () => 1, { mode: "optimistic", store }, { key: "a" });
    expect(reads.splice(0)).toEqual([{ consistent: false }]);
    world.start(() => new Promise(() => {}));
    await world.clock.advance(0);
    await world.call(async () => 1, { store }).catch(() => {});
    await world.call(async () => 1, { store }, { key: OLD_UUID }).catch(() => {});

    expect(reads.length).toBeGreaterThan(2);
    expect(new Set(reads.map((read) => JSON.stringify(read)))).toEqual(new Set(['{"consistent":true}']));
  });

  it("H13: a look that fails refuses by default, and runs if the options say so", async () => {
    const world = optimistic();
    const store = failing(world.memory, "find", "before");

    await expect(world.call(async () => "never", { store })).rejects.toThrow(StoreUnavailableError);
    expect(await world.call(async () => "done", { store, whenStoreFails: "run" })).toBe("done");

    expect(world.decisions()).toEqual(["store-failed", "store-failed", "ran-unprotected", "executed"]);
  });

  it("gives up when the record changes under every insertion", async () => {
    const world = optimistic({ lookFirst: false });
    let insertions = 0;
    const store = intercepted(world.memory, async (method, request, [insertion]) => {
      if (method !== "insert") return request();
      const { recordKey, fingerprint } = insertion as Insertion;
      insertions++;
      const vacant = { state: "released", attempt: 1, leaseEndsAt: 0, createdAt: 0, version: 1 };
      return { settled: false, record: { ...vacant, recordKey, fingerprint, token: `other ${insertions}` } };
    });

    await expect(world.call(({ commit }) => commit("never"), { store })).rejects.toMatchObject({
      failure: "conflict",
    });
    expect(insertions).toBeGreaterThan(8);
  });
});

/** A UUIDv7 of 2020. */
const OLD_UUID = "016f5e66-e800-7000-8000-000000000000";

/** docs/proof/why-not.md, records: each schedule breaks the pattern that is often recommended, and not onceonly. */
import { describe, expect, it } from "vitest";
import { newWorld } from "../core/world.ts";
import { intercepted } from "../kit/faults/faulty-store.ts";
import { gate } from "../kit/time/gate.ts";
import { tableWithRowLocks } from "./world.ts";

const KEY = "key-1";
const LEASE_MS = 30_000;

/** A process that dies never goes on. */
const death = () => new Promise<never>(() => {});

describe("a separate `started` state", () => {
  /** Three writes, one after the other: `started`, the effect, `done`. */
  function startedState(whenStarted: "refuse" | "run") {
    const states = new Map<string, "started" | "done">();
    return async (key: string, work: () => Promise<void>) => {
      const state = states.get(key);
      if (state === "done") return "replayed";
      if (state === "started" && whenStarted === "refuse") throw new Error("in progress");
      states.set(key, "started");
      await work();
      states.set(key, "done");
      return "done";
    };
  }

  it("blocks the key forever if the process dies before the effect", async () => {
    const run = startedState("refuse");
    run(KEY, death).catch(() => {});

    await expect(run(KEY, async () => {})).rejects.toThrow("in progress");
  });

  it("doubles the effect if `started` runs again after a process died after the effect", async () => {
    let orders = 0;
    const run = startedState("run");
    run(KEY, async () => {
      orders++;
      await death();
    }).catch(() => {});

    await run(KEY, async () => void orders++);

    expect(orders).toBe(2);
  });

  it("onceonly: a process that dies before the effect blocks the key until its lease ends", async () => {
    const world = newWorld();
    world.start(death);
    await world.clock.advance(LEASE_MS / 2);
    await expect(world.call(death)).rejects.toMatchObject({ code: "EXECUTION_IN_PROGRESS" });
    await world.clock.advance(LEASE_MS);

    await world.call(({ commit }) => commit("created", { writes: [world.orderWrite()] }));

    expect(world.orders()).toBe(1);
  });

  it("onceonly: a process that dies right after the commit leaves effect and result together", async () => {
    const world = newWorld();
    const store = intercepted(world.memory, async (method, request) => {
      const answer = await request();
      return method === "settle" ? death() : answer;
    });
    world.start(({ commit }) => commit("created", { writes: [world.orderWrite()] }), {
      store,
    });
    await world.clock.advance(0);

    const retry = await world.call(({ commit }) => commit("again", { writes: [world.orderWrite()] }));

    expect([retry, world.orders()]).toEqual(["created", 1]);
  });
});

describe("`SELECT … FOR UPDATE` on a row that is not there yet", () => {
  it("locks an existing row", async () => {
    const table = tableWithRowLocks();
    table.begin().insert(KEY);
    const [first, second] = [table.begin(), table.begin()];
    await first.selectForUpdate(KEY);
    let isThrough = false;
    const waiting = second.selectForUpdate(KEY).then(() => {
      isThrough = true;
    });
    await new Promise(setImmediate);
    expect(isThrough).toBe(false);

    first.end();
    await waiting;

    expect(isThrough).toBe(true);
  });

  it("lets both callers charge, and the unique index refuses the second one afterwards", async () => {
    const table = tableWithRowLocks();
    let charges = 0;
    const bothHaveLooked = gate();
    const charge = async () => {
      const transaction = table.begin();
      const row = await transaction.selectForUpdate(KEY);
      await bothHaveLooked.opened;
      if (row === undefined) {
        charges++;
        transaction.insert(KEY);
      }
      transaction.end();
    };
    const both = Promise.allSettled([charge(), charge()]);
    await new Promise(setImmediate);
    bothHaveLooked.open();

    expect((await both).map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(charges).toBe(2);
  });

  it("onceonly: the claim is the insertion, so the second caller is refused before it charges", async () => {
    const world = newWorld();
    let charges = 0;
    const { opened, open } = gate();
    const charge = async () => {
      await opened;
      return ++charges;
    };
    const both = [world.start(charge), world.start(charge)];
    open();

    const answers = await world.clock.run(Promise.allSettled(both));

    expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(answers[1]).toMatchObject({ reason: { code: "EXECUTION_IN_PROGRESS" } });
    expect(charges).toBe(1);
  });
});

describe("deleting the record on failure", () => {
  interface Row {
    readonly result?: string;
    readonly leaseEndsAt: number;
  }

  /** With a lease, and a deletion by key when the work throws. */
  function deleteOnFailure(clock: { now(): number }) {
    const rows = new Map<string, Row>();
    return async (work: () => Promise<string>) => {
      const row = rows.get(KEY);
      if (row?.result !== undefined) return row.result;
      if (row !== undefined && clock.now() < row.leaseEndsAt) throw new Error("in progress");
      const leaseEndsAt = clock.now() + LEASE_MS;
      rows.set(KEY, { leaseEndsAt });
      try {
        const result = await work();
        rows.set(KEY, { leaseEndsAt, result });
        return result;
      } catch (error) {
        rows.delete(KEY);
        throw error;
      }
    };
  }

  it("lets a late failure delete the record of the winner, and the effect happens twice", async () => {
    const { clock } = newWorld();
    const run = deleteOnFailure(clock);
    let orders = 0;
    const create = async () => `order ${++orders}`;
    const { opened: stall, fail } = gate<string>();
    const late = run(() => stall);
    await clock.advance(2 * LEASE_MS);
    await run(create);
    fail(new Error("connection reset"));
    await expect(late).rejects.toThrow("connection reset");

    await run(create);

    expect(orders).toBe(2);
  });

  it("onceonly: a late failure changes nothing, because the record has another claim token", async () => {
    const world = newWorld();
    const create = world.orderWrite();
    const { opened: stall, fail } = gate<string>();
    const late = world.start(() => stall);
    await world.clock.advance(2 * LEASE_MS);
    await world.call(({ commit }) => commit("created", { writes: [create] }));
    fail(new Error("connection reset"));
    await world.clock.run(late.catch(() => {}));

    expect(await world.call(({ commit }) => commit("again", { writes: [create] }))).toBe("created");
    expect(world.orders()).toBe(1);
  });

  it("onceonly: a failure keeps the record, so no fencing number is used twice", async () => {
    const world = newWorld();
    await expect(world.call(() => Promise.reject(new Error("refused")))).rejects.toThrow("refused");

    expect(await world.call(async ({ attempt }) => attempt)).toBe(2);
  });
});

// What a key meets while its store is left for another.
import { describe, expect, it } from "vitest";
import { InvalidOptionError, OutcomeUnknownError } from "../../lib/core/errors.ts";
import { resolveOutcome } from "../../lib/core/resolve-outcome.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import type { Store } from "../../lib/core/store.ts";
import { PostgresStore } from "../../lib/postgres/postgres-store.ts";
import { PostgresTransactions } from "../../lib/postgres/postgres-transactions.ts";
import { cached } from "../../lib/stores/cached.ts";
import { migrating } from "../../lib/stores/migrating.ts";
import { redacted } from "../../lib/stores/redacted.ts";
import { unmigratedRecords } from "../../lib/stores/unmigrated-records.ts";
import { fakeClock, MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";
import { failing, unreachable } from "../kit/faults/faulty-store.ts";
import { gate } from "../kit/time/gate.ts";
import { commits, inSteps, movingWorld, type Stage } from "./moving-world.ts";

const DONE = { result: { done: true } };
const IN_PROGRESS = { error: expect.objectContaining({ code: "EXECUTION_IN_PROGRESS" }) };
const UNAVAILABLE = { error: expect.objectContaining({ code: "STORE_UNAVAILABLE" }) };
const HELD = { error: expect.objectContaining({ code: "OUTCOME_UNKNOWN" }) };

const answersOf = async (world: ReturnType<typeof movingWorld>, ...stages: Stage[]) => {
  const answers: unknown[] = [];
  for (const stage of stages) answers.push((await world.call(stage)).answer);
  return answers;
};

describe("migrating", () => {
  it("H69: a key that was used before the move is replayed in every stage of it", async () => {
    const world = movingWorld();
    await world.call(1);

    expect(await answersOf(world, 2, 1, 3, 2)).toEqual([DONE, DONE, DONE, DONE]);
    expect(await world.unmigratedRecords(true)).toEqual([]);
    expect(await answersOf(world, 3, 4)).toEqual([DONE, DONE]);
    expect(world.runs()).toBe(1);
  });

  it("H69: without bringing it there, the report names the key until its retention is over", async () => {
    const world = movingWorld();
    await world.call(1);
    const [recordKey] = world.from.records.keys();

    const expiresAt = world.from.records.get(recordKey as string)?.expiresAt as number;
    expect(await world.unmigratedRecords()).toEqual([
      { recordKey, state: "completed", why: "unknown-there", expiresAt },
    ]);
    await world.clock.advance(expiresAt * 1000 - world.clock.now());
    expect(await world.unmigratedRecords()).toEqual([]);
  });

  it.each([
    [1, 2],
    [2, 1],
    [2, 3],
    [3, 2],
    [3, 4],
    [4, 3],
  ] as const)(
    "H69: while an instance of stage %s works, one of stage %s reports that",
    async (one, other) => {
      const world = movingWorld(() => new Promise(() => {}), { leaseSeconds: 60 });
      await world.call(one);

      expect(await answersOf(world, other)).toEqual([IN_PROGRESS]);
      expect(world.runs()).toBe(1);
    },
  );

  it.each([2, 3] as const)(
    "H69: a crash between the two claims of stage %s costs one lease",
    async (stage) => {
      const world = movingWorld();
      await world.call(stage, ["crash-after"]);
      expect([world.from.records.size, world.to.records.size]).toEqual([1, 0]);

      expect(await answersOf(world, stage)).toEqual([DONE]);
      expect(world.runs()).toBe(1);
    },
  );

  it.each([
    ["the old store", ["fails"]],
    ["the new store", ["answered", "fails"]],
  ] as const)("H69: with %s down nothing runs, and the next call runs immediately", async (_, fates) => {
    for (const stage of [2, 3] as const) {
      const world = movingWorld();

      expect((await world.call(stage, fates)).answer).toEqual(UNAVAILABLE);
      expect(world.runs()).toBe(0);
      expect(await answersOf(world, stage)).toEqual([DONE]);
    }
  });

  it("H69: a store that goes down after the commit loses no caller's answer, and the report shows it", async () => {
    for (const stage of [2, 3] as const) {
      const world = movingWorld();

      const { answer } = await world.call(stage, ["answered", "answered", "answered", "fails"]);

      expect(answer).toEqual(DONE);
      expect(await answersOf(world, 2, 3)).toEqual([DONE, DONE]);
      expect((await world.unmigratedRecords()).map(({ why }) => why)).toEqual(
        stage === 2 ? ["unknown-there"] : [],
      );
    }
  });

  it.each(["from", "to"] as const)("H69: TTL that has only deleted `%s` makes nothing run", async (side) => {
    for (const stage of [2, 3] as const) {
      const world = movingWorld();
      await world.call(stage);
      world[side].alter([...world[side].records.keys()][0] as string, undefined);

      expect(await answersOf(world, 2, 3)).toEqual([DONE, DONE]);
      expect(world.runs()).toBe(1);
    }
  });

  it("H69: the attempts keep counting if TTL has deleted one store's record", async () => {
    const world = movingWorld(async ({ attempt }) => attempt, { retentionSeconds: 1 });
    await world.call(2);
    await world.call(3);
    world.from.alter([...world.from.records.keys()][0] as string, undefined);

    expect((await world.call(2)).answer).toEqual({ result: 3 });
    expect((await world.call(3)).answer).toEqual({ result: 4 });
  });

  it("H69: a payload that differs from the one before the move is refused", async () => {
    const world = movingWorld();
    await world.call(1);
    const store = migrating(world.from, world.to, { clock: world.clock });
    const options = { operation: "create-order", store, leaseSeconds: 30, clock: world.clock };

    await expect(runOnce(options, "key-1", "another", () => "never")).rejects.toMatchObject({
      code: "FINGERPRINT_MISMATCH",
    });
  });

  it("H69: a key that is held stays held through the move, is listed once, and is resolved in both stores", async () => {
    const world = movingWorld(
      async () => {
        throw new OutcomeUnknownError();
      },
      { whenAbandoned: "hold" },
    );
    await world.call(1);

    expect(await answersOf(world, 2, 3, 2)).toEqual([HELD, HELD, HELD]);
    expect(world.runs()).toBe(1);
    expect(await world.unmigratedRecords(true)).toEqual([]);
    expect(await answersOf(world, 4)).toEqual([HELD]);
    const store = migrating(world.from, world.to, { clock: world.clock });
    const listed: unknown[] = [];
    for await (const each of store.unknownOutcomes?.({ before: world.clock.now() }) ?? []) listed.push(each);
    expect(listed).toHaveLength(1);

    const resolving = { operation: "create-order", store, clock: world.clock };
    const verdict = { outcome: "happened", result: { done: true }, by: "me", why: "seen" } as const;
    expect(await resolveOutcome(resolving, "key-1", verdict)).toEqual({ resolved: true });
    expect(await answersOf(world, 1, 4)).toEqual([DONE, DONE]);
  });

  it("H69: steps of the old store are not run again in the new one, large results neither", async () => {
    const world = movingWorld(inSteps);
    await world.call(1, ["answered", "answered", "crash-before"]);
    expect(world.effects()).toEqual({ reserve: 1 });

    await world.call(2, [
      "answered",
      "answered",
      "answered",
      "answered",
      "answered",
      "answered",
      "crash-before",
    ]);
    expect(await world.unmigratedRecords(true)).toEqual([]);
    expect(await answersOf(world, 4)).toEqual([{ result: { second: 2000 } }]);
    expect(world.effects()).toEqual({ reserve: 1, charge: 1 });
  });

  it("H15, H69: a step whose result the old store has not kept is not run again in the new one, and reports that", async () => {
    const clock = fakeClock();
    const [from, to] = [new MemoryStore({ maxResultBytes: 2000 }), new MemoryStore()];
    let runs = 0;
    const call = (store: Store<MemoryWrite>) =>
      runOnce({ operation: "create-order", store, leaseSeconds: 30, clock }, "key-1", "input", ({ step }) =>
        step("load", () => {
          runs++;
          return "x".repeat(5000);
        }),
      );

    for (const store of [from, migrating(from, to, { clock }), to])
      await expect(call(store)).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });

    expect(runs).toBe(1);
  });

  it("H69: an optimistic commit over a claim whose lease has ended fences the attempt that has it", async () => {
    const { opened, open } = gate<void>();
    let runs = 0;
    const world = movingWorld(async (execution) => {
      if (++runs === 1) await opened;
      return commits(execution);
    });
    await world.call(3);

    expect((await world.call(2, [], { mode: "optimistic" })).answer).toEqual(DONE);
    open();
    await world.clock.advance(1000);

    expect(world.effects()).toEqual({ order: 1 });
  });

  it("reports what is running, and messages that `from` has still to send", async () => {
    const running = movingWorld(() => new Promise(() => {}), { leaseSeconds: 60 });
    await running.call(2, ["answered", "crash-before"]);
    expect((await running.unmigratedRecords(true)).map(({ why }) => why)).toEqual(["running"]);

    const queue = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments";
    const unsent = movingWorld(({ commit }) =>
      commit({ done: true }, { messages: [{ queue, key: "order-1", body: {} }] }),
    );
    await unsent.call(2);
    expect((await unsent.unmigratedRecords(true)).map(({ why }) => why)).toEqual(["unsent"]);
  });

  it("reports a result that cannot be brought, as it is not kept", async () => {
    const clock = fakeClock();
    const from = new MemoryStore({ maxResultBytes: 10 });
    const to = new MemoryStore();
    const options = { operation: "create-order", store: from, leaseSeconds: 30, clock };
    await runOnce(options, "key-1", "input", () => "x".repeat(2000));

    const left: unknown[] = [];
    const recordKeys = [...from.records.keys(), "no record"];
    for await (const each of unmigratedRecords({ from, to, recordKeys, migrate: true, clock }))
      left.push(each);

    expect(left).toMatchObject([{ state: "completed", why: "unreadable" }]);
  });

  it("works if both are one database", async () => {
    const store = new MemoryStore();
    const same = migrating(store, failing(store, "loadResult", "before", { error: unreachable }));
    const options = { operation: "create-order", store: same, leaseSeconds: 30 };

    expect(await runOnce(options, "key-1", "input", () => "first")).toBe("first");
    expect(await runOnce(options, "key-1", "input", () => "never")).toBe("first");
  });

  it("rejects anything but a pair of stores, before any I/O", () => {
    const [from, to] = [new MemoryStore(), new MemoryStore()];

    for (const make of [
      () => migrating(from, from),
      () => migrating(from, undefined as never),
      () => migrating({} as never, to),
      () => migrating(from, to, { commitsIn: "both" as never }),
      () => migrating(from, to, { clock: {} as never }),
      () => migrating(from, to, { leader: "to" } as never),
    ]) {
      expect(make).toThrow(InvalidOptionError);
    }
  });

  it.each(["from", "to"] as const)(
    "refuses a store that runs handlers in its transaction and does not decide: commits in %s",
    (commitsIn) => {
      const client = { query: async () => [], transaction: () => Promise.reject(new Error("no server")) };
      const within = new PostgresTransactions({ client, table: "records" }) as Store;
      const beside = new PostgresStore({ client, table: "records" }) as Store;
      const pair = (deciding: Store, other: Store) =>
        commitsIn === "from"
          ? migrating(deciding, other)
          : migrating(other as Store<never>, deciding, { commitsIn });

      for (const store of [within, cached(within), redacted(within, (result) => result)])
        expect(() => pair(new MemoryStore(), store)).toThrow("use a PostgresStore on the same table");
      for (const store of [beside, cached(beside), redacted(beside, (result) => result)])
        expect(() => pair(within, store)).not.toThrow();
    },
  );

  it("has steps and holds only if both stores do", () => {
    const without = Object.assign(new MemoryStore(), { writeStep: undefined, unknownOutcomes: undefined });

    const store = migrating(new MemoryStore(), without);

    expect([store.writeStep, store.unknownOutcomes]).toEqual([undefined, undefined]);
  });
});

// Commits with messages: stored once with their record, or not at all.
import { describe, expect, it } from "vitest";
import type { Execution } from "../../../lib/core/execution.ts";
import type { MemoryWrite } from "../../../lib/testing/index.ts";
import { answerLost, failing, throttled } from "../../kit/faults/faulty-store.ts";
import { gate } from "../../kit/time/gate.ts";
import { newWorld, START, type World } from "../world.ts";
import { PAID, STORED, toBus, unsent } from "./given.ts";

const MODES = ["claimed", "optimistic"] as const;
type Work = Execution<MemoryWrite>;

describe.each(MODES)("commit with messages, %s", (mode) => {
  const method = mode === "claimed" ? "settle" : "insert";

  it("stores them with the result, once, and every replay gets the result", async () => {
    const world = newWorld({ mode });
    const work = ({ commit }: Work) =>
      commit({ id: 7 }, { writes: [world.orderWrite()], messages: [PAID, toBus] });

    expect(await world.call(work)).toEqual({ id: 7 });
    const stored = await unsent(world);
    expect(await world.call(work)).toEqual({ id: 7 });

    const recordKey = [...world.memory.records.keys()][0];
    expect(stored).toMatchObject([
      {
        recordKey,
        token: world.record().token,
        committedAt: START,
        messages: [STORED, { ...toBus, body: "{}" }],
      },
    ]);
    expect(await unsent(world)).toEqual(stored);
    expect(world.orders()).toBe(1);
    expect(world.decisions()).toEqual(["executed", "replayed"]);
  });

  it("a replay stores nothing again once they are sent", async () => {
    const world = newWorld({ mode });
    const work = ({ commit }: Work) => commit("done", { messages: [PAID] });
    await world.call(work);
    for (const each of await unsent(world)) if (each) await world.memory.outbox.markSent(each);

    expect(await world.call(work)).toBe("done");

    expect(await unsent(world)).toEqual([]);
  });

  it("sends the content at the time of the commit, whatever the handler changes later", async () => {
    const world = newWorld({ mode });

    await world.call(async ({ commit }: Work) => {
      const message = { ...PAID, body: { orderId: "order-7" } };
      const committed = commit("done", { messages: [message] });
      message.body.orderId = "order-8";
      message.key = "another";
      await committed;
    });

    expect(await unsent(world)).toMatchObject([{ messages: [STORED] }]);
  });

  it("H36: after a refused condition neither write nor message exists, and a later commit is sent", async () => {
    const world = newWorld({ mode });
    const soldOut = { ...PAID, key: "order-7/sold-out" };

    await world.call(async ({ commit }: Work) => {
      const refused = commit("order", { writes: [world.orderWrite(() => false)], messages: [PAID] });
      await expect(refused).rejects.toMatchObject({ code: "TRANSACTION_CONDITION" });
      expect(await unsent(world)).toEqual([]);
      return commit("sold out", { messages: [soldOut] });
    });

    expect(await unsent(world)).toMatchObject([{ messages: [{ key: "order-7/sold-out" }] }]);
    expect(world.orders()).toBe(0);
  });

  it("H8: stores them once although the answer of the commit was lost", async () => {
    const world = newWorld({ mode });
    const store = answerLost(world.memory, "settle", "insert");

    await world.call(({ commit }: Work) => commit("done", { messages: [PAID] }), { store });

    expect(await unsent(world)).toMatchObject([{ messages: [STORED] }]);
  });

  it.each(["before", "after"] as const)(
    "H36: a commit with an unknown outcome has both write and message or neither (lost %s)",
    async (when) => {
      const world = newWorld({ mode });
      const store = failing(world.memory, method, when, { error: throttled });
      const work = ({ commit }: Work) => commit("done", { writes: [world.orderWrite()], messages: [PAID] });

      await expect(world.call(work, { store })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });

      const there = when === "after" ? 1 : 0;
      expect([world.orders(), (await unsent(world)).length]).toEqual([there, there]);
      await world.clock.advance(60_000);
      expect(await world.call(work)).toBe("done");
      expect([world.orders(), (await unsent(world)).length]).toEqual([1, 1]);
    },
  );

  it("a handler that fails after its commit has sent its messages all the same, and the retry sends no others", async () => {
    const world = newWorld({ mode });
    let runs = 0;
    const work = async ({ commit }: Work) => {
      await commit("done", { messages: [{ ...PAID, key: `order-7/${++runs}` }] });
      throw new Error("after");
    };

    await expect(world.call(work)).rejects.toThrow("after");
    expect(await world.call(work)).toBe("done");

    expect(await unsent(world)).toMatchObject([{ messages: [{ key: "order-7/1" }] }]);
  });
});

describe("commit with messages, against others", () => {
  const order =
    (world: World, name: string, opened: Promise<unknown>) =>
    async ({ commit }: Work) => {
      await opened;
      return commit(name, { writes: [world.orderWrite()], messages: [{ ...PAID, key: name }] });
    };

  it("H1: an attempt that lost its claim sends nothing, before and after the winner", async () => {
    for (const isFirst of [true, false]) {
      const world = newWorld();
      const [slow, fast] = [gate(), gate()];
      const zombie = world.start(order(world, "zombie", slow.opened));
      await world.clock.advance(35_001);
      const winner = world.start(order(world, "winner", fast.opened));
      await world.clock.advance(0);

      for (const { open } of isFirst ? [slow, fast] : [fast, slow]) {
        open();
        await world.clock.advance(0);
      }

      await Promise.allSettled([zombie, winner]);
      expect(await unsent(world)).toMatchObject([{ messages: [{ key: "winner" }] }]);
      expect(world.orders()).toBe(1);
    }
  });

  it("of two simultaneous optimistic runs only the winner's messages are sent", async () => {
    const world = newWorld({ mode: "optimistic" });
    const { opened, open } = gate();
    const both = [world.start(order(world, "one", opened)), world.start(order(world, "two", opened))];
    await world.clock.advance(0);

    open();

    expect((await Promise.all(both)).map(({ result }) => result)).toEqual(["one", "one"]);
    expect(await unsent(world)).toMatchObject([{ messages: [{ key: "one" }] }]);
  });
});

// Processes that stop and go on, and calls that share one.
import { describe, expect, it } from "vitest";
import type { Execution } from "../../lib/core/execution.ts";
import type { MemoryWrite } from "../../lib/testing/index.ts";
import { gate } from "../kit/time/gate.ts";
import { newWorld } from "./world.ts";

type Work = Execution<MemoryWrite>;

describe("freeze and thaw", () => {
  it("H43: work that resumes after its attempt was taken over is fenced", async () => {
    const world = newWorld();
    const { opened, open } = gate();
    const frozen = world.start(async ({ commit }: Work) => {
      await opened;
      return commit("frozen", { writes: [world.orderWrite()] });
    });
    await world.clock.advance(600_000);
    await world.call(({ commit }: Work) => commit("winner", { writes: [world.orderWrite()] }));

    open();

    expect((await frozen).result).toBe("winner");
    expect(world.orders()).toBe(1);
  });

  it("H43: work that was not awaited and resumes in a later invocation cannot commit", async () => {
    const world = newWorld();
    const { opened, open } = gate();
    let leftBehind: Promise<unknown> | undefined;
    await world.call(async ({ commit }: Work) => {
      leftBehind = opened.then(() => commit("late", { writes: [world.orderWrite()] }));
      leftBehind.catch(() => {});
      return "returned";
    });
    await world.clock.advance(600_000);

    open();

    await expect(leftBehind).rejects.toThrow("this attempt has ended");
    expect(world.orders()).toBe(0);
    expect(await world.call(async () => "never")).toBe("returned");
  });

  it("H44: interleaved calls in one process do not mix their keys, attempts or results", async () => {
    const world = newWorld();
    const gates = [gate(), gate(), gate()];
    const work = (index: number) => async (execution: Work) => {
      await gates[index]?.opened;
      return execution.commit({
        index,
        key: execution.key,
        scope: execution.scope,
        operation: execution.operation,
        child: execution.childKey("charge"),
      });
    };
    const calls = gates.map((_, index) =>
      world.start(work(index), {}, { key: `key-${index}`, scope: `tenant-${index}` }),
    );
    await world.clock.advance(0);

    for (const index of [2, 0, 1]) gates[index]?.open();

    const results = (await Promise.all(calls)).map(({ result }) => result as { child: string });
    expect(results).toEqual(
      [0, 1, 2].map((index) => ({
        index,
        key: `key-${index}`,
        scope: `tenant-${index}`,
        operation: "create-order",
        child: expect.any(String),
      })),
    );
    expect(new Set(results.map(({ child }) => child)).size).toBe(3);
    expect(new Set(world.events.map(({ keyHash }) => keyHash)).size).toBe(3);
  });
});

// Whose claim a call goes on with, and whose errors it marks.
import { describe, expect, it } from "vitest";
import { OutcomeUnknownError } from "../../lib/core/errors.ts";
import { failing } from "../kit/faults/faulty-store.ts";
import { never } from "./abandoned-given.ts";
import { newWorld } from "./world.ts";

describe("a call that goes on with the claim of an earlier one of the same owner", () => {
  let tokens = 0;
  const owned = (owner: string) =>
    [{ random: { token: () => `${owner}${++tokens}`, fraction: () => 0.5 } }, { owner }] as const;

  it("H62: runs while the lease of the earlier one is live", async () => {
    const world = newWorld();
    world.start(() => new Promise(() => {}), ...owned("arn:1 "));
    await world.clock.advance(1000);

    expect(await world.call(() => "went on", ...owned("arn:1 "))).toBe("went on");
    expect(world.record()).toMatchObject({ state: "completed", attempt: 2 });
  });

  it("H62: doesn't run beside another owner's", async () => {
    const world = newWorld();
    world.start(() => new Promise(() => {}), ...owned("arn:1 "));
    await world.clock.advance(1000);

    await expect(world.call(never, ...owned("arn:2 "))).rejects.toMatchObject({
      code: "EXECUTION_IN_PROGRESS",
    });
    await expect(world.call(never)).rejects.toMatchObject({ code: "EXECUTION_IN_PROGRESS" });
  });

  it("H42: doesn't run if the key is held", async () => {
    const world = newWorld({ whenAbandoned: "hold" });
    const unsure = () => Promise.reject(new OutcomeUnknownError());
    await expect(world.call(unsure, ...owned("arn:1 "))).rejects.toThrow(OutcomeUnknownError);

    await expect(world.call(never, ...owned("arn:1 "))).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    expect(world.record()).toMatchObject({ state: "held", attempt: 1 });
  });
});

it("leaves a foreign error as it is", async () => {
  const world = newWorld();
  const bug = new TypeError("unreadable answer");
  const store = failing(world.memory, "claim", "before", { error: () => bug });

  await expect(world.call(never, { store })).rejects.toBe(bug);
  expect(bug).not.toHaveProperty("keyHash");
});

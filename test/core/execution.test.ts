import { expect, it } from "vitest";
import { ageOf, startOf, stepsOf } from "../../lib/core/execution.ts";
import { newWorld, START } from "./world.ts";

it("an execution has the steps recorded so far, and the time and the age of the key's first claim", async () => {
  const world = newWorld();
  let attempts = 0;
  const call = () =>
    world.call(async (execution) => {
      await execution.step(`step-${++attempts}`, () => attempts);
      if (attempts === 1) throw new Error("later");
      return [startOf(execution), ageOf(execution), Object.keys(stepsOf(execution) ?? {})];
    });

  await expect(call()).rejects.toThrow("later");
  await world.clock.advance(5000);

  expect(await call()).toEqual([START, 5000, ["step-1", "step-2"]]);
});

it.each([undefined, null, {}, "text"])("%j has no recorded steps", (value) => {
  expect(stepsOf(value)).toBeUndefined();
});

it("an execution has the token of its record, another one in each attempt", async () => {
  const world = newWorld();
  const tokens: string[] = [];
  const call = () =>
    world.call(async ({ token }) => {
      tokens.push(token);
      expect(world.record().token).toBe(token);
      throw new Error("later");
    });

  await expect(call()).rejects.toThrow("later");
  await expect(call()).rejects.toThrow("later");

  expect(new Set(tokens).size).toBe(2);
});

// What a handler threw is an outcome, whatever its code; only what the engine made about this call decides.
import { describe, expect, it } from "vitest";
import { PermanentError, StoreUnavailableError } from "../../lib/core/errors.ts";
import { ourErrors } from "../kit/our-errors.ts";
import { newWorld } from "./world.ts";

const final = { isFinalError: () => true };

const caught = (call: Promise<unknown>) =>
  call.then(
    (value) => ({ value }),
    (error) => error,
  );

describe("answers 11: runOnce", () => {
  it("H77: answers a late worker, that returns, throws or commits, with the error that the winner recorded", async () => {
    for (const [title, make] of ourErrors()) {
      for (const end of ["returns", "throws", "commits"]) {
        const world = newWorld(final);
        let resume = () => {};
        const paused = new Promise<void>((resolve) => {
          resume = resolve;
        });
        const late = world.start(async ({ commit }) => {
          await paused;
          if (end === "commits") return commit("late", { writes: [world.orderWrite()] });
          if (end === "throws") throw new PermanentError("late");
          return "late";
        });
        await world.clock.advance(60_000);
        const winner = await caught(world.call(() => Promise.reject(make())));
        resume();

        const answer = await caught(world.clock.run(late));

        expect([title, end, answer.message]).toEqual([title, end, winner.message]);
        expect([title, end, answer.code]).toEqual([title, end, winner.code]);
        expect(world.orders()).toBe(0);
      }
    }
  });

  it("H77: allows no further commit after a commit that was answered with the winner's error", async () => {
    const world = newWorld(final);
    const refused = () => Object.assign(new PermanentError("sold out"), { code: "TRANSACTION_CONDITION" });
    let resume = () => {};
    const paused = new Promise<void>((resolve) => {
      resume = resolve;
    });
    let second: unknown;
    const late = world.start(async ({ commit }) => {
      await paused;
      await commit("late").catch(() => {});
      second = await caught((async () => commit("later"))());
    });
    await world.clock.advance(60_000);
    await caught(world.call(() => Promise.reject(refused())));
    resume();

    expect(await caught(world.clock.run(late))).toMatchObject({ message: "sold out" });
    expect(second).toMatchObject({ code: "COMMIT_INVALID" });
  });

  it("H77: does not run again over a recorded error that looks like a failing store", async () => {
    const world = newWorld({ ...final, whenStoreFails: "run" });
    const outage = () => new StoreUnavailableError("throttled", new Error("of another store"));
    await caught(world.call(() => Promise.reject(outage())));

    const replayed = await caught(world.call(async () => "ran again"));

    expect(replayed).toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(world.decisions()).toEqual(["executed", "replayed"]);
  });

  it("records a frozen final error, and throws it unchanged", async () => {
    const world = newWorld();
    const frozen = Object.freeze(new PermanentError("no"));

    expect(await caught(world.call(() => Promise.reject(frozen)))).toBe(frozen);
    expect(await caught(world.call(async () => "never"))).toMatchObject({ message: "no", code: "PERMANENT" });
    expect(world.record().state).toBe("failed");
  });
});

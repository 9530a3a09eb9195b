// A person gives keys back, one or a group, and the former attempts are fenced off.
import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { OutcomeUnknownError } from "../../../lib/core/errors.ts";
import { runOnce } from "../../../lib/core/run-once.ts";
import { reconciler } from "../../../lib/reconciler/reconciler.ts";
import { BY, holding, holdKey } from "./held-given.ts";
import { newWorld, type World } from "./world.ts";

let world: World;
beforeEach(async () => {
  world = await newWorld();
});

/** A handler that runs until the test ends it. */
async function running(key: string, operation = "charge") {
  let end = () => {};
  const ending = new Promise<void>((resolve) => {
    end = resolve;
  });
  let ended: Promise<unknown> = Promise.resolve();
  await new Promise<void>((begun) => {
    ended = runOnce(holding(world, operation), key, {}, async () => {
      begun();
      await ending;
      return "late";
    });
  });
  return { end, ended };
}

describe("onceonly release", () => {
  it("H58: gives a held key back, says who and why, and a retry runs", async () => {
    const key = await holdKey(world);

    const answer = await world.run("release", [key, "-o", "charge", ...BY], true);

    expect(answer.status).toBe(0);
    expect(answer.text).toMatch(/^charge##\S+\nheld, attempt 1\n.+\nreleased$/s);
    expect(answer.asked).toEqual(["charge: release the key, so that a retry runs?"]);
    const { text } = await world.run("find", [key, "-o", "charge"]);
    expect(text).toMatch(/released, attempt 2\n/);
    expect(text).toContain("released by ana: ticket 7");
    expect(await runOnce(holding(world, "charge"), key, {}, () => "ran")).toBe("ran");
  });

  it("leaves a live attempt alone unless it gets --interrupt: then the attempt records nothing", async () => {
    const key = randomUUID();
    const { end, ended } = await running(key);

    const refused = await world.run("release", [key, "-o", "charge", ...BY, "--yes"]);
    const answer = await world.run("release", [key, "-o", "charge", ...BY, "--yes", "--interrupt"]);

    const refusal = "not released: the key is in-progress: pass --interrupt to fence its attempt off";
    expect(refused).toMatchObject({ status: 1, text: refusal });
    expect(answer).toMatchObject({ status: 0, text: "released" });
    expect(await runOnce(holding(world, "charge"), key, {}, () => "retry")).toBe("retry");
    end();
    await ended.catch(() => undefined);
    expect(await runOnce(holding(world, "charge"), key, {}, () => expect.unreachable())).toBe("retry");
  });

  it("R8: says until when the lease of an attempt with an open step lives, and what to do then", async () => {
    const key = randomUUID();
    let begun = () => {};
    const hasBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    let end = () => {};
    const ended = runOnce(holding(world, "charge"), key, {}, ({ step }) => {
      const work = () => {
        begun();
        return new Promise<void>((resolve) => {
          end = resolve;
        });
      };
      return step("card", work, { atMostOnce: true });
    });
    await hasBegun;
    const run = (command: string, ...more: string[]) =>
      world.run(command, [key, "-o", "charge", ...BY, "--yes", ...more]);

    const refused = [await run("release"), await run("release", "--interrupt")];
    const resolved = await run("resolve", "--step", "card", "--did-not-happen");

    for (const { status, text } of refused) {
      expect(status).toBe(1);
      expect(text).toMatch(
        /^not released: step card was begun, and its attempt may still be running: its lease ends 2\S+Z \(in .*\)\. .*stop the process first; once the lease has ended, settle the step with resolve --step$/,
      );
    }
    expect(resolved.status).toBe(1);
    expect(resolved.text).toMatch(
      /^not resolved: the key is in-progress: an attempt holds its lease\. `find` shows/,
    );
    end();
    await ended;
  });

  it("leaves a completed key, an absent one, and one with a step of unknown outcome as they are", async () => {
    const [done, begun] = [randomUUID(), randomUUID()];
    await runOnce(holding(world, "charge"), done, {}, () => "done");
    const stepping = runOnce(holding(world, "charge"), begun, {}, async ({ step }) => {
      await step(
        "card",
        () => {
          throw new OutcomeUnknownError();
        },
        { atMostOnce: true },
      );
    });
    await expect(stepping).rejects.toThrow();

    const answers = await Promise.all(
      [done, begun, randomUUID()].map((key) =>
        world.run("release", [key, "-o", "charge", ...BY, "--yes", "--interrupt"]),
      ),
    );

    expect(answers.map(({ status, text }) => [status, text])).toEqual([
      [1, "not released: the key is completed"],
      [1, "not released: the outcome of step card is unknown: settle it with resolve --step"],
      [1, expect.stringMatching(/^not released: no record: .* --scope$/)],
    ]);
  });

  it("prints the requests of a dry run, and writes nothing", async () => {
    const key = await holdKey(world);
    const before = await world.run("find", [key, "-o", "charge", "--json"]);

    const dry = await world.run("release", [key, "-o", "charge", ...BY, "--dry-run"]);

    expect(dry.text.match(/^UpdateItem /gm)).toHaveLength(2);
    expect(await world.run("find", [key, "-o", "charge", "--json"])).toEqual(before);
  });

  it.each([
    [["k", "-o", "charge", "--by", "ana"], "--why is required"],
    [["k", "--group", "charge", ...BY], "pass a key or --group, not both"],
    [["--group", "charge", "-s", "acme", ...BY], "a group doesn't accept --scope"],
    [["--group", "", ...BY], "--group is empty: is a shell variable unset?"],
    [["--group", "charge", "--limit", "0", ...BY], "--limit must be a whole number of at least 1"],
    [["--group", "charge", "--by", "", "--why", "ticket 7"], "--by is empty"],
  ])("refuses %j before any request", async (args, message) => {
    await expect(world.run("release", [...args, "--yes"])).rejects.toThrow(message);
  });
});

describe("a group", () => {
  it("H90: shows its first twenty keys before it asks", async () => {
    for (let number = 0; number < 21; number++) await holdKey(world, "many");
    await world.clock.advance(1000);

    const { text } = await world.run("release", ["--group", "many", ...BY], false);

    expect(text).toMatch(/^(many##\S{43}\n){20}and 1 more\nnothing was changed$/);
  });

  it("H58: is asked about once, with its size, and only its keys are changed", async () => {
    const keys = [await holdKey(world), await holdKey(world), await holdKey(world)];
    const other = await holdKey(world, "refund");
    await world.clock.advance(1000);

    const no = await world.run("release", ["--group", "charge", ...BY], false);
    const answer = await world.run("release", ["--group", "charge", ...BY], true);

    expect(no).toMatchObject({ status: 1, text: expect.stringMatching(/nothing was changed$/) });
    expect(answer.asked).toEqual(["charge: release 3 keys, so that retries run?"]);
    expect(answer).toMatchObject({ status: 0, progress: [1, 2, 3] });
    expect(answer.text).toMatch(/^(charge##\S{43}\n){3}changed 3 of 3$/);
    for (const key of keys) expect(await runOnce(holding(world, "charge"), key, {}, () => "ran")).toBe("ran");
    await expect(runOnce(holding(world, "refund"), other, {}, () => "ran")).rejects.toThrow(
      OutcomeUnknownError,
    );
  });

  it("is bounded, prints what a dry run withholds, and reports that it is empty", async () => {
    for (let index = 0; index < 3; index++) await holdKey(world);
    await world.clock.advance(1000);
    const args = ["--group", "charge", "--did-not-happen", ...BY];

    const dry = await world.run("resolve", [...args, "--dry-run"]);
    const two = await world.run("resolve", [...args, "--limit", "2"], true);
    const rest = await world.run("resolve", [...args, "--yes", "--json"]);
    const none = await world.run("resolve", [...args, "--yes"]);

    expect(dry.text.match(/^UpdateItem /gm)).toHaveLength(6);
    expect(two.asked[0]).toContain(
      "record for 2 keys that the effect did not happen? (the first of more: --limit 2)",
    );
    expect(two.text).toContain("there are more: run the command again");
    expect(JSON.parse(rest.text)).toMatchObject({ resolved: true });
    expect(none).toMatchObject({ status: 1, text: "the group is empty" });
  });

  it("takes the keys of one error alone", async () => {
    const { store, clock } = world;
    const asked = randomUUID();
    const { end, ended } = await running(asked);
    await clock.advance(300_000);
    const down = () => Promise.reject(new TypeError("down"));
    await reconciler({ store, clock, operations: { charge: down } })();
    await holdKey(world);
    await clock.advance(1000);

    const answer = await world.run("release", ["--group", "charge/TypeError", ...BY, "--yes"]);
    const none = await world.run("release", ["--group", "charge/RangeError", ...BY, "--yes"]);

    expect(answer).toMatchObject({ status: 0, text: "changed 1 of 1" });
    expect(none).toMatchObject({ status: 1, text: "the group is empty" });
    end();
    await ended.catch(() => undefined);
  });

  it("leaves a key that was settled meanwhile, names it, and changes the others", async () => {
    const [first, second] = [await holdKey(world), await holdKey(world)];
    await world.clock.advance(1000);
    const store = world.store;
    const settled = { isDone: false };
    const resolving = async () => {
      if (settled.isDone) return;
      settled.isDone = true;
      for (const key of [first, second])
        await world.run("resolve", [key, "-o", "charge", "--happened", "1", ...BY, "--yes"]);
    };

    // The person answers after somebody else has settled both.
    const answer = await world.run("release", ["--group", "charge", ...BY], true, resolving);

    expect(answer.status).toBe(1);
    expect(answer.text).toContain("not released: the key is completed");
    expect(answer.text).toContain("changed 0 of 2");
    expect(await runOnce({ ...holding(world, "charge"), store }, first, {}, () => expect.unreachable())).toBe(
      1,
    );
  });
});

import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { OutcomeUnknownError } from "../../../lib/core/errors.ts";
import { runOnce } from "../../../lib/core/run-once.ts";
import { BY, holding, holdKey } from "./held-given.ts";
import { newWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await newWorld();
});

describe("onceonly list unknown", () => {
  it("groups held keys by operation and reason, and says that there are more", async () => {
    const fresh = await newWorld();
    [world] = [fresh];
    expect(await fresh.run("list", ["unknown"])).toMatchObject({ status: 1, text: "nothing found" });
    for (let index = 0; index < 3; index++) await holdKey(world);
    await holdKey(world, "refund");
    await fresh.clock.advance(1000);

    const all = await fresh.run("list", ["unknown"]);
    const two = await fresh.run("list", ["unknown", "--limit", "2", "--json"]);

    expect(all.status).toBe(0);
    expect(all.text).toContain("charge: held (3)\n  charge##");
    expect(all.text).toContain("refund: held (1)\n  refund##");
    const lines = two.text.split("\n").map((line) => JSON.parse(line));
    expect(lines).toMatchObject([{ state: "held" }, { state: "held" }, { more: true }]);
  });

  it.each([
    [["everything"], "no such list `everything`: use unknown, waiting, parked"],
    [[], "expected one list: unknown, waiting or parked, got 0"],
    [["unknown", "--limit", "0"], "--limit must be a whole number of at least 1"],
  ])("refuses %j", async (args, message) => {
    await expect(world.run("list", args)).rejects.toThrow(message);
  });
});

describe("onceonly resolve", () => {
  it("H58: completes a held key with the answer that each caller gets", async () => {
    const key = await holdKey(world);

    const answer = await world.run("resolve", [
      key,
      "-o",
      "charge",
      "--happened",
      '{"id":"ch_1"}',
      ...BY,
      "--yes",
    ]);

    expect(answer).toMatchObject({ status: 0, text: "resolved", asked: [] });
    expect(await runOnce(holding(world, "charge"), key, {}, () => "again")).toEqual({ id: "ch_1" });
    const { text } = await world.run("find", [key, "-o", "charge"]);
    expect(text).toContain("verdict: happened, by ana, ");
    expect(text).toContain("reason: ticket 7");
  });

  it("H58: gives a held key back, after a person said yes", async () => {
    const key = await holdKey(world);

    const answer = await world.run("resolve", [key, "-o", "charge", "--did-not-happen", ...BY], true);

    expect(answer.asked).toEqual(["charge: record that the effect did not happen?"]);
    expect(answer.status).toBe(0);
    expect(await runOnce(holding(world, "charge"), key, {}, () => "ran")).toBe("ran");
  });

  it("changes nothing after a no, nor in a dry run, which prints both requests", async () => {
    const key = await holdKey(world);
    const args = [key, "-o", "charge", "--happened", "null", ...BY];
    const before = await world.run("find", [key, "-o", "charge", "--json"]);

    const declined = await world.run("resolve", args, false);
    const dry = await world.run("resolve", [...args, "--dry-run"]);

    expect(declined.status).toBe(1);
    expect(declined.text).toMatch(/^charge##\S+\nheld, attempt 1\n/);
    expect(declined.text).toContain(
      "\nevery caller will get: null\nthe handler doesn't run again: its own writes and messages in `commit` aren't made\n",
    );
    expect(declined.text).toMatch(/\nnothing was changed$/);
    expect(dry.status).toBe(0);
    expect(dry.text.match(/^UpdateItem /gm)).toHaveLength(2);
    expect(dry.text).toContain("dry run: nothing was written");
    expect(await world.run("find", [key, "-o", "charge", "--json"])).toEqual(before);
  });

  it("refuses without a terminal to ask on, before any write", async () => {
    const key = await holdKey(world);

    const answer = world.run("resolve", [key, "-o", "charge", "--did-not-happen", ...BY]);

    await expect(answer).rejects.toThrow(
      "not a terminal, so I can't ask for confirmation: pass --yes, or --dry-run to preview",
    );
    await expect(runOnce(holding(world, "charge"), key, {}, () => "ran")).rejects.toThrow(
      OutcomeUnknownError,
    );
  });

  it("leaves a key that is in progress, completed or absent as it is, with status 1", async () => {
    const [done, running, absent] = [randomUUID(), randomUUID(), randomUUID()];
    await runOnce(holding(world, "charge"), done, {}, () => "done");
    await new Promise<void>((begun) => {
      void runOnce({ ...holding(world, "charge"), renewLease: false }, running, {}, () => {
        begun();
        return new Promise(() => {});
      });
    });

    for (const [key, why] of [
      [done, "the key is completed"],
      [running, "the key is in-progress"],
      [absent, "no record: nothing ran under this operation and key without a scope"],
    ] as const) {
      const args = [key, "-o", "charge", "--did-not-happen", ...BY, "--yes"];
      expect(await world.run("resolve", args)).toMatchObject({
        status: 1,
        text: expect.stringContaining(`not resolved: ${why}`),
      });
    }
  });

  it.each([
    [[...BY], "pass either --happened <JSON> or --did-not-happen"],
    [["--happened", "1", "--did-not-happen", ...BY], "pass either --happened <JSON> or --did-not-happen"],
    [["--happened", "{secret", ...BY], "--happened must be JSON"],
    [["--did-not-happen", "--by", "ana"], "--why is required"],
    [["--happened", "1", "--retention", "a day", ...BY], "--retention must be a whole number of at least 1"],
  ])("refuses %j, and repeats no value", async (args, message) => {
    const refused = world.run("resolve", ["k", "-o", "charge", ...args, "--yes"]);

    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.not.toThrow("secret");
  });
});

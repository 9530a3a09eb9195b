import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import type { ListedCommit } from "../../lib/core/messages/operated-outbox.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import { newWorld, type World } from "./world.ts";

const QUEUE = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments";

let world: World;
beforeEach(async () => {
  world = await newWorld();
});

/** A commit of two messages, of which the first is parked where `isParked`. Resolves to its record key. */
async function commitTwo(isParked: boolean): Promise<string> {
  const { store, clock, outbox } = world;
  await runOnce({ operation: "order", store, clock, leaseSeconds: 30 }, randomUUID(), {}, ({ commit }) =>
    commit("done", {
      messages: [
        { queue: QUEUE, key: "order-7/pay", body: { card: "canary" } },
        { queue: QUEUE, key: "order-7/tell", body: {} },
      ],
    }),
  );
  const { value: found } = await outbox.list("waiting").next();
  const { commit } = found as Required<ListedCommit>;
  const parked = { state: "parked", tries: 9, at: clock.now(), code: "AccessDenied" } as const;
  if (isParked)
    await outbox.keep(commit, [parked, { state: "waiting", tries: 9, at: clock.now() }], clock.now());
  return commit.recordKey;
}

const progressOf = async (recordKey: string) =>
  (await world.outbox.load(recordKey))?.progress?.map(({ state, tries }) => [state, tries]);

describe("onceonly outbox", () => {
  it("lists what waits and what is parked, by destination and code, and shows no body", async () => {
    const recordKey = await commitTwo(true);

    const parked = await world.run("list", ["parked"]);
    const waiting = await world.run("list", ["waiting", "--json"]);

    expect(parked.text).toMatch(/^order: parked, to \S*payments\S*, AccessDenied \(1\)\n/);
    expect(parked.text).toContain(recordKey);
    expect(JSON.parse(waiting.text)).toMatchObject({ recordKey, state: "waiting" });
    expect(parked.text + waiting.text).not.toContain("canary");
  });

  it("has all open messages sent as if nobody had tried", async () => {
    const recordKey = await commitTwo(true);

    const answer = await world.run("outbox", ["retry", recordKey, "--yes"]);

    expect(answer).toMatchObject({ status: 0, text: "the sweeper sends them within a minute" });
    expect(await progressOf(recordKey)).toEqual([
      ["waiting", 0],
      ["waiting", 0],
    ]);
  });

  it("drops one message, and the other still waits", async () => {
    const recordKey = await commitTwo(true);

    const dry = await world.run("outbox", ["drop", recordKey, "--message", "0", "--dry-run"]);
    expect(dry.text).toContain("dry run: nothing was written");
    expect(await progressOf(recordKey)).toEqual([
      ["parked", 9],
      ["waiting", 9],
    ]);
    const answer = await world.run("outbox", ["drop", recordKey, "--message", "0", "--yes"]);

    expect(answer).toMatchObject({ status: 0, text: "dropped" });
    expect(await progressOf(recordKey)).toEqual([
      ["dropped", 9],
      ["waiting", 9],
    ]);
  });

  it("sends a message to another queue", async () => {
    const recordKey = await commitTwo(true);
    const other = `${QUEUE}-2`;

    const answer = await world.run("outbox", [
      ...["redirect", recordKey, "--message", "0", "--queue", other],
      "--yes",
    ]);

    expect(answer).toMatchObject({ status: 0, text: "redirected" });
    const commit = await world.outbox.load(recordKey);
    expect(commit?.messages.map(({ queue }) => queue)).toEqual([other, QUEUE]);
  });

  it("says with status 1 that nothing of a record waits", async () => {
    const answer = await world.run("outbox", ["retry", "order##none", "--yes"]);

    expect(answer).toMatchObject({ status: 1, text: "no message of this record waits" });
  });

  it.each([
    [["resend", "r"], "give retry, drop, redirect, then one record key"],
    [["retry"], "give retry, drop, redirect, then one record key"],
    [["drop", "r"], "drop takes --message"],
    [["drop", "r", "--message", "first"], "--message takes the place of a message, from 0"],
    [["drop", "r", "--message", "0", "--queue", QUEUE], "drop takes no --queue"],
    [["drop", "r", "--message", "0", "--by", "ana"], "Unknown option '--by'"],
    [["redirect", "r", "--message", "0"], "redirect takes --queue, --topic or --bus"],
  ])("refuses %j before any request", async (args, message) => {
    await expect(world.run("outbox", [...args, "--yes"])).rejects.toThrow(message);
  });
});

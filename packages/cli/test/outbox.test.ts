import { randomUUID } from "node:crypto";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { beforeEach, describe, expect, it } from "vitest";
import { identify } from "../../../lib/core/identity.ts";
import { actsIn } from "../../../lib/core/messages/outbox-act.ts";
import { runOnce } from "../../../lib/core/run-once.ts";
import { newWorld, type World } from "./world.ts";

const SAID = ["--by", "ana", "--why", "ticket 4711"];
const BY = [...SAID, "--yes"];
const QUEUE = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments";

let world: World;
/** The keys of what was committed. */
let keys: string[] = [];
beforeEach(async () => {
  keys = [];
  world = await newWorld();
});

/** A commit of two messages, of which the first is parked where `isParked`. Resolves to its record key. */
async function commitTwo(isParked: boolean): Promise<string> {
  const { store, clock, outbox } = world;
  const key = randomUUID();
  keys.push(key);
  await runOnce({ operation: "order", store, clock, leaseSeconds: 30 }, key, {}, ({ commit }) =>
    commit("done", {
      messages: [
        { queue: QUEUE, key: "order-7/pay", body: { card: "canary" } },
        { queue: QUEUE, key: "order-7/tell", body: {} },
      ],
    }),
  );
  const commit = (await outbox.load(identify("order", "", key).recordKey))!;
  const parked = { state: "parked", tries: 9, at: clock.now(), code: "AccessDenied" } as const;
  if (isParked)
    await outbox.keep(commit, [parked, { state: "waiting", tries: 9, at: clock.now() }], clock.now());
  return commit.recordKey;
}

const progressOf = async (recordKey: string) =>
  (await world.outbox.load(recordKey))?.progress?.map(({ state, tries }) => [state, tries]);

const actsOf = async (recordKey: string) => actsIn((await world.outbox.load(recordKey))?.evidence);

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

  it("lists commits message by message, and the decisions about them, and shows no body", async () => {
    const [parked, waiting] = [await commitTwo(true), await commitTwo(false)];
    await world.run("outbox", ["drop", parked, "--message", "1", ...BY]);

    const all = await world.run("outbox", ["list"]);
    const grouped = await world.run("outbox", ["list", "--group", "order/AccessDenied", "--json"]);
    const one = await world.run("outbox", ["list", waiting]);
    const first = await world.run("outbox", ["list", "--limit", "1"]);

    expect(all.status).toBe(0);
    expect(all.text).toMatch(
      /├ message 0 to \S*payments: parked, 9 tries, AccessDenied, .*\n├ message 1 to \S*payments: dropped, .*\n└ message 1: dropped, by ana, .*\n {2}└ why: ticket 4711/,
    );
    expect(all.text.split("\n").filter((line) => line === parked || line === waiting)).toHaveLength(2);
    expect(JSON.parse(grouped.text)).toMatchObject({
      recordKey: parked,
      messages: [{ state: "parked", tries: 9, code: "AccessDenied" }, { state: "dropped" }],
      acts: [{ act: "drop", messages: [1], by: "ana" }],
    });
    expect(one.text).toMatch(
      RegExp(`^${waiting}\n├ committed .*\n├ message 0 to .*: waiting, 0 tries\n└ message 1`),
    );
    expect(first.text).toContain("there are more: raise --limit 1");
    expect(all.text + grouped.text).not.toContain("canary");
  });

  it("lists a commit once that waits in part and is parked in part, and commits that can't be read", async () => {
    const recordKey = await commitTwo(true);
    const { text } = await world.run("outbox", ["list", "--json"]);
    expect(text.split("\n")).toHaveLength(1);

    await world.client.send(
      new UpdateItemCommand({
        TableName: world.tableName,
        Key: { pk: { S: recordKey } },
        UpdateExpression: "SET messages = :damage",
        ExpressionAttributeValues: { ":damage": { S: "[{" } },
      }),
    );
    const damaged = await world.run("outbox", ["list"]);

    expect(damaged.text).toMatch(/└ unreadable: /);
    expect(await world.run("outbox", ["list", "--group", "order"])).toMatchObject({
      status: 1,
      text: "nothing found",
    });
  });

  it.each([
    [["list", "r", "s"], "expected one record key, got 2"],
    [["list", "r", "--group", "order"], "pass a key or --group, not both"],
    [["list", "--by", "ana"], "list doesn't accept --by"],
    [["list", "--dry-run"], "list doesn't accept --dry-run"],
    [["list", "--limit", "0"], "--limit must be a whole number of at least 1"],
  ])("refuses %j before any request", async (args, message) => {
    await expect(world.run("outbox", args)).rejects.toThrow(message);
  });

  it("has all open messages sent as if they had never been tried", async () => {
    const recordKey = await commitTwo(true);

    const answer = await world.run("outbox", ["retry", recordKey, ...BY]);

    expect(answer).toMatchObject({ status: 0, text: "queued again: the sweeper sends them within a minute" });
    expect(await progressOf(recordKey)).toEqual([
      ["waiting", 0],
      ["waiting", 0],
    ]);
  });

  it("drops one message, and the other still waits", async () => {
    const recordKey = await commitTwo(true);

    const dry = await world.run("outbox", ["drop", recordKey, "--message", "0", ...SAID, "--dry-run"]);
    expect(dry.text).toContain("dry run: nothing was written");
    expect(await progressOf(recordKey)).toEqual([
      ["parked", 9],
      ["waiting", 9],
    ]);
    const answer = await world.run("outbox", ["drop", recordKey, "--message", "0", ...BY]);

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
      ...BY,
    ]);

    expect(answer).toMatchObject({ status: 0, text: "redirected" });
    const commit = await world.outbox.load(recordKey);
    expect(commit?.messages.map(({ queue }) => queue)).toEqual([other, QUEUE]);
  });

  it("reports with status 1 that nothing of a record waits", async () => {
    const answer = await world.run("outbox", ["retry", "order##none", ...BY]);

    expect(answer).toMatchObject({ status: 1, text: "this record has no unsent messages" });
  });

  it.each([
    [["resend", "r"], "expected list, retry, drop, redirect or edit, got `resend`"],
    [["retry"], "expected one record key, or --group, got 0"],
    [["drop", "r"], "drop needs --message"],
    [["drop", "r", "--message", "first"], "--message must be the position of a message, from 0"],
    [["drop", "r", "--message", " "], "--message must be the position of a message, from 0"],
    [["drop", "r", "--message", "0", "--queue", QUEUE], "drop doesn't accept --queue"],
    [["redirect", "r", "--message", "0"], "redirect needs --queue, --topic or --bus"],
    [["redirect", "r", "--group", "g", "--queue", QUEUE], "pass a key or --group, not both"],
    [["drop", "--group", "order", "--message", "0"], "drop of a group doesn't accept --message"],
    [["drop", "--group", "order", "--queue", QUEUE], "drop of a group doesn't accept --queue"],
    [["redirect", "--group", "order"], "redirect needs --queue, --topic or --bus"],
    [["--group", "order"], "expected list, retry, drop, redirect or edit, got nothing"],
  ])("refuses %j before any request", async (args, message) => {
    await expect(world.run("outbox", [...BY, ...args])).rejects.toThrow(message);
  });

  it.each([
    ["--why", "", "--why is empty"],
    ["--why", "x".repeat(257), "--why must be at most 256 characters (got 257)"],
    ["--by", "x".repeat(257), "--by must be at most 256 characters (got 257)"],
  ])("rejects a string for %s that no record contains", async (option, text, message) => {
    const other = option === "--by" ? "--why" : "--by";

    for (const what of [["r"], ["--group", "order"]]) {
      const args = ["retry", ...what, option, text, other, "ana", "--yes"];
      await expect(world.run("outbox", args)).rejects.toThrow(message);
    }
  });

  it.each(["retry", "drop"])("asks who decides to %s, and why, before any request", async (act) => {
    const message = ["--message", "0", "--yes"];

    await expect(world.run("outbox", [act, "r", ...message])).rejects.toThrow("--by is required");
    await expect(world.run("outbox", [act, "r", ...message, "--by", "ana"])).rejects.toThrow(
      "--why is required",
    );
  });

  it.each([
    ["retry", "sent again", [], ["waiting", 0]],
    ["drop", "dropped", [], ["dropped", 9]],
    ["redirect", "redirected", ["--queue", `${QUEUE}-2`], ["waiting", 0]],
  ])(
    "has the parked messages of a group decided by %s, and nothing else of them",
    async (act, reported, more, state) => {
      const recordKeys = [await commitTwo(true), await commitTwo(true)];
      const waiting = await commitTwo(false);

      const none = await world.run("outbox", [act, "--group", "order/Throttled", ...more, ...BY]);
      const answer = await world.run("outbox", [act, "--group", "order/AccessDenied", ...more, ...BY]);

      expect(none).toMatchObject({ status: 1, text: "the group is empty" });
      expect(answer).toMatchObject({ status: 0, text: "changed 2 of 2" });
      for (const recordKey of recordKeys)
        expect(await progressOf(recordKey)).toEqual([state, ["waiting", 9]]);
      expect(await progressOf(waiting)).toBeUndefined();
      expect(await actsOf(recordKeys[0]!)).toMatchObject([{ by: "ana", why: "ticket 4711", messages: [0] }]);
      const { text } = await world.run("trace", [keys[0]!, "-o", "order"]);
      expect(text).toMatch(RegExp(`message 0: ${reported}, by ana, \\S+ [^\\n]*\\n[│ ]*└ why: ticket 4711`));
    },
  );

  it("keeps who dropped the last message, and why, once nothing is left to send", async () => {
    const recordKey = await commitTwo(true);
    await world.run("outbox", ["drop", recordKey, "--message", "0", "--message", "1", ...BY]);

    const { text } = await world.run("find", [keys[0]!, "-o", "order"]);
    const trace = await world.run("trace", [keys[0]!, "-o", "order", "--json"]);

    expect(text).toMatch(/├ messages 0, 1: dropped, by ana, .*\n├ why: ticket 4711\n/);
    expect(text).not.toContain("verdict");
    expect(trace.text).toContain("ticket 4711");
    expect(await world.outbox.load(recordKey)).toBeUndefined();
  });

  it("writes nothing of a group in a dry run, and shows who would have decided", async () => {
    const recordKey = await commitTwo(true);

    const { text } = await world.run("outbox", ["drop", "--group", "order", ...SAID, "--dry-run"]);

    expect(text).toContain("ticket 4711");
    expect(text).toContain("dry run: nothing was written");
    expect(await progressOf(recordKey)).toEqual([
      ["parked", 9],
      ["waiting", 9],
    ]);
  });

  it("H90: shows the body of a parked message, and sends an edited one under another key", async () => {
    const recordKey = await commitTwo(true);
    const folder = await mkdtemp(join(tmpdir(), "onceonly-edit-"));
    const file = join(folder, "body.json");
    await writeFile(file, '{"card":"fixed"}');
    const edit = ["edit", recordKey, "--message", "0", "--body-from", file];

    const shown = await world.run("outbox", ["list", recordKey, "--show-body"]);
    const json = await world.run("outbox", ["list", recordKey, "--show-body", "--json"]);
    const edited = await world.run("outbox", [...edit, ...SAID], true);

    expect(shown.text).toContain('message 0, key order-7/pay: {"card":"canary"}');
    expect(JSON.parse(json.text).bodies[0]).toEqual({ key: "order-7/pay", body: '{"card":"canary"}' });
    expect(edited.asked).toEqual([`edit message 0 of ${recordKey}, and send it under a new key?`]);
    expect(edited).toMatchObject({ status: 0, text: "edited: the sweeper sends it within a minute" });
    const [message] = (await world.outbox.load(recordKey))!.messages;
    expect(message).toMatchObject({
      body: '{"card":"fixed"}',
      key: expect.not.stringMatching("order-7/pay"),
    });
    expect(await actsOf(recordKey)).toMatchObject([{ act: "edit", formerKey: "order-7/pay", by: "ana" }]);
    expect((await world.run("outbox", ["list", recordKey])).text).toContain("message 0: edited, by ana, ");

    const named = await world.run("outbox", [...edit, "--key", "order-7/fixed", ...BY]);
    expect(named.status).toBe(0);
    expect((await world.outbox.load(recordKey))!.messages[0]).toMatchObject({ key: "order-7/fixed" });
    const gone = await world.run("outbox", [...edit.with(1, "order##gone"), ...BY]);
    expect(gone).toMatchObject({ status: 1, text: "this record has no unsent messages" });
  });

  it("refuses an edit without a place, and a file that isn't there", async () => {
    const edit = (...args: string[]) => world.run("outbox", ["edit", "order##k", ...args, ...BY]);

    await expect(edit("--body-from", "x")).rejects.toThrow("edit needs one --message");
    await expect(edit("--message", "0", "--body-from", "none.json")).rejects.toThrow(
      "can't read the body none.json: no such file",
    );
  });

  it("edits an event, whose body must be an object", async () => {
    const key = randomUUID();
    const { store, clock } = world;
    await runOnce({ operation: "order", store, clock, leaseSeconds: 30 }, key, {}, ({ commit }) =>
      commit("done", {
        messages: [{ bus: "orders", source: "shop", detailType: "paid", key: "e", body: { n: 1 } }],
      }),
    );
    const { recordKey } = identify("order", "", key);
    const folder = await mkdtemp(join(tmpdir(), "onceonly-edit-"));
    const [good, bad] = [join(folder, "good.json"), join(folder, "bad.json")];
    await Promise.all([writeFile(good, '{"n":2}'), writeFile(bad, "{n")]);
    const edit = (file: string) =>
      world.run("outbox", ["edit", recordKey, "--message", "0", "--body-from", file, ...BY]);

    await expect(edit(bad)).rejects.toThrow("the body of an event must be a JSON object");
    expect(await edit(good)).toMatchObject({ status: 0 });
    expect((await world.outbox.load(recordKey))!.messages[0]).toMatchObject({ body: '{"n":2}' });
  });
});

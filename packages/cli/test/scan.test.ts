import { randomUUID } from "node:crypto";
import { PutItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { beforeEach, describe, expect, it } from "vitest";
import { OutcomeUnknownError } from "../../../lib/core/errors.ts";
import { identify, PUBLIC_SCOPE } from "../../../lib/core/identity.ts";
import { runOnce } from "../../../lib/core/run-once.ts";
import { newWorld, type World } from "./world.ts";

const SECRET = "canary-4711";

let world: World;
beforeEach(async () => {
  world = await newWorld();
});

async function completed(operation: string): Promise<string> {
  const { store, clock } = world;
  const key = randomUUID();
  await runOnce({ operation, store, clock, leaseSeconds: 30 }, key, {}, () => ({ SECRET }));
  return identify(operation, PUBLIC_SCOPE, key).recordKey;
}

describe("onceonly list --scan", () => {
  it("lists the records of a state that no index has, by operation, after it has said what that costs", async () => {
    const keys = [await completed("pay"), await completed("pay"), await completed("ship")];
    const Item = { pk: { S: "order-7" }, state: { S: "completed" }, card: { S: SECRET } };
    await world.client.send(new PutItemCommand({ TableName: world.tableName, Item }));

    const { status, text, asked } = await world.run("list", ["completed", "--scan"], true);

    expect(status).toBe(0);
    expect(asked).toEqual([
      expect.stringMatching(/about \d+ items, \d+\.\d MB, \d+(\.5)? read units.*Scan it\?$/),
    ]);
    expect(text).toMatch(/^pay: completed \(2\)$/m);
    expect(text).toMatch(/^ship: completed \(1\)$/m);
    for (const key of keys) expect(text).toContain(key);
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain("order-7");
  });

  it("reads nothing if the operator says no, and doesn't ask without a terminal", async () => {
    await completed("pay");

    const { status, text } = await world.run("list", ["completed", "--scan"], false);

    expect({ status, text }).toEqual({ status: 1, text: "nothing was read" });
    await expect(world.run("list", ["completed", "--scan"])).rejects.toThrow("pass --yes");
  });

  it("prints JSON, goes through pages, and stops at the limit", async () => {
    for (let made = 0; made < 3; made++) await completed("pay");

    const { text } = await world.run("list", ["completed", "--scan", "--yes", "--json", "--limit", "2"]);

    const lines = text.split("\n").map((line) => JSON.parse(line));
    expect(lines).toEqual([
      expect.objectContaining({ state: "completed", attempt: 1 }),
      expect.objectContaining({ state: "completed", attempt: 1 }),
      { more: true },
    ]);
  });

  it("reports a record that can't be read, beside the others", async () => {
    const [damaged, whole] = [await completed("pay"), await completed("pay")];
    await world.client.send(
      new UpdateItemCommand({
        TableName: world.tableName,
        Key: { pk: { S: damaged } },
        UpdateExpression: "REMOVE attempt",
      }),
    );

    const { text } = await world.run("list", ["completed", "--scan", "--yes"]);

    expect(text).toMatch(/^pay: unreadable \(1\)$/m);
    expect(text).toContain(whole);
  });

  it.each([
    [["completed"], "records that are completed aren't indexed: pass --scan"],
    [
      ["finished", "--scan"],
      "no such list `finished`: use unknown, waiting, parked, or with --scan in-progress",
    ],
  ])("refuses %j before any request", async (args, message) => {
    await expect(world.run("list", args)).rejects.toThrow(message);
  });
});

it("41.10: a scan and a list of an index show how much they have read", async () => {
  await completed("order");
  await completed("order");
  const key = randomUUID();
  const hold = { operation: "charge", store: world.store, clock: world.clock, leaseSeconds: 30 };
  await runOnce({ ...hold, whenAbandoned: "hold" }, key, {}, () => {
    throw new OutcomeUnknownError();
  }).catch(() => undefined);
  await world.clock.advance(1000);

  expect((await world.run("list", ["completed", "--scan", "--yes"])).progress).toEqual([3]);
  expect((await world.run("list", ["unknown"])).progress).toEqual([1]);
});

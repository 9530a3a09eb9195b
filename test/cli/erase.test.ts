// A person's data is erased, and the fact that it happened is kept.
import { randomUUID } from "node:crypto";
import { ScanCommand } from "@aws-sdk/client-dynamodb";
import { beforeAll, describe, expect, it } from "vitest";
import { ResultNotKeptError } from "../../lib/core/errors.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import { eraseResult } from "../../lib/dynamodb/erase-result.ts";
import { MemoryStore } from "../../lib/testing/memory-store.ts";
import { newWorld, type World } from "./world.ts";

const SECRET = "canary-4711";
const BY = ["--by", "ana", "--why", "request 12"];

let world: World;
beforeAll(async () => {
  world = await newWorld();
});

const options = () => ({ operation: "pay", store: world.store, clock: world.clock, leaseSeconds: 30 });

/** The items of a key, as text: compressed results are only counted. */
async function itemsOf(key: string): Promise<{ count: number; text: string }> {
  const { recordKey } = JSON.parse((await world.run("find", [key, "-o", "pay", "--json"])).text);
  const { Items = [] } = await world.client.send(
    new ScanCommand({ TableName: world.tableName, ConsistentRead: true }),
  );
  const own = Items.filter(({ pk }) => pk?.S?.startsWith(recordKey));
  return { count: own.length, text: JSON.stringify(own) };
}

describe("onceonly erase", () => {
  it.each([
    ["in the record", 1, 1],
    ["in an item of its own", 2, 400],
  ])("H39: erases a result %s, and a replay runs nothing", async (_, items, times) => {
    const key = randomUUID();
    // Text that does not compress.
    const text = Array.from({ length: times }, () => `${SECRET} ${randomUUID()}`).join();
    await runOnce(options(), key, {}, () => text);
    expect((await itemsOf(key)).count).toBe(items);

    const answer = await world.run("erase", [key, "-o", "pay", ...BY, "--yes"]);

    expect(answer).toMatchObject({ status: 0, text: "erased" });
    const left = await itemsOf(key);
    expect(left.text).not.toContain(SECRET);
    const again = runOnce(options(), key, {}, () => expect.unreachable());
    await expect(again).rejects.toThrow(ResultNotKeptError);
    const { text: told } = await world.run("find", [key, "-o", "pay"]);
    expect(told).toContain("asked: to erase the result");
    expect(told).toContain("answered: request 12");
    expect(await world.run("erase", [key, "-o", "pay", ...BY, "--yes"])).toMatchObject({ status: 0 });
  });

  it("H39: erases the error of a key that failed for good", async () => {
    const key = randomUUID();
    const failing = { ...options(), isFinalError: () => true };
    await expect(runOnce(failing, key, {}, () => Promise.reject(new Error(SECRET)))).rejects.toThrow(SECRET);

    await world.run("erase", [key, "-o", "pay", ...BY, "--yes"]);

    expect((await itemsOf(key)).text).not.toContain(SECRET);
    await expect(runOnce(failing, key, {}, () => expect.unreachable())).rejects.toThrow(ResultNotKeptError);
  });

  it("leaves a commit whose messages wait, and a key that is absent, as they are", async () => {
    const key = randomUUID();
    const queue = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments";
    await runOnce(options(), key, {}, ({ commit }) =>
      commit("done", { messages: [{ queue, key: "order-7", body: {} }] }),
    );

    const waiting = await world.run("erase", [key, "-o", "pay", ...BY, "--yes"]);
    const absent = await world.run("erase", [randomUUID(), "-o", "pay", ...BY, "--yes"]);

    const told = "not erased: messages of it wait to be sent: send or drop them first";
    expect(waiting).toMatchObject({ status: 1, text: told });
    expect(absent).toMatchObject({ status: 1, text: "not erased: the key is absent" });
    expect(await runOnce(options(), key, {}, () => expect.unreachable())).toBe("done");
  });

  it("erases nothing of a key that somebody claims meanwhile", async () => {
    const key = randomUUID();
    const short = { ...options(), retentionSeconds: 60 };
    await runOnce(short, key, {}, () => "first");
    const { clock, client, tableName } = world;
    let isClaimed = false;
    const claimedBetween = new Proxy(client, {
      get(target, name) {
        if (name !== "send") return Reflect.get(target, name, target);
        return async (command: never) => {
          const isWrite = (command as object).constructor.name !== "GetItemCommand";
          if (isWrite && !isClaimed) {
            isClaimed = true;
            await clock.advance(61_000);
            await runOnce(short, key, {}, () => "second");
          }
          return target.send(command);
        };
      },
    });

    const erasure = { by: "ana", why: "request 12" };
    const answer = await eraseResult(
      { store: new DynamoDBStore({ tableName, client: claimedBetween }), operation: "pay", clock },
      key,
      erasure,
    );

    expect(answer).toEqual({ erased: false, state: "completed" });
    expect(await runOnce(short, key, {}, () => expect.unreachable())).toBe("second");
  });

  it.each([
    [{ operation: "pay" }, { by: "a", why: "b" }, "option `store`"],
    [{ operation: "pay", tableName: "t" }, { by: "a", why: "b" }, "option `tableName` is unknown"],
    [{ operation: "", store: new MemoryStore() }, { by: "a", why: "b" }, "option `operation`"],
    [{ operation: "pay", store: new MemoryStore() }, { by: "a" }, "option `why`"],
    [
      { operation: "pay", store: new MemoryStore() },
      { by: "a", why: "b", key: "k" },
      "option `key` is unknown",
    ],
  ])("refuses %o with %j before any request", async (given, erasure, message) => {
    await expect(eraseResult(given as never, "k", erasure as never)).rejects.toThrow(message);
  });
});

// A person's data is erased, and the fact that it happened is kept.
import { randomUUID } from "node:crypto";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PutItemCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import { beforeAll, describe, expect, it } from "vitest";
import { ResultNotKeptError } from "../../../lib/core/errors.ts";
import { identify } from "../../../lib/core/identity.ts";
import { runOnce } from "../../../lib/core/run-once.ts";
import { DynamoDBStore } from "../../../lib/dynamodb/dynamodb-store.ts";
import { eraseResult } from "../../../lib/dynamodb/erase-result.ts";
import { MemoryStore } from "../../../lib/testing/memory-store.ts";
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
    const { text: found } = await world.run("find", [key, "-o", "pay"]);
    expect(found).toContain("erased by ana: request 12, ");
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

    const found = "not erased: it has unsent messages: send or drop them first";
    expect(waiting).toMatchObject({ status: 1, text: found });
    expect(absent).toMatchObject({
      status: 1,
      text: expect.stringMatching(/^not erased: no record: .* pass the key's owner with --scope$/),
    });
    expect(await runOnce(options(), key, {}, () => expect.unreachable())).toBe("done");
  });

  it("erases nothing of a key that a call claims in between", async () => {
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

  describe("of many keys", () => {
    const payOf = async (scope: string, operation = "pay") => {
      const key = randomUUID();
      await runOnce({ ...options(), operation, scope }, key, {}, () => SECRET);
      return key;
    };
    const isErased = async (key: string, scope: string, operation = "pay") =>
      runOnce({ ...options(), operation, scope }, key, {}, () => expect.unreachable()).then(
        () => false,
        (error) => error instanceof ResultNotKeptError,
      );
    const fileOf = async (text: string) => {
      const file = join(await mkdtemp(join(tmpdir(), "onceonly-")), "keys.txt");
      await writeFile(file, text);
      return file;
    };

    it("H39: erases the keys of a file under one operation and scope, asks once, and lists what stays", async () => {
      const keys = await Promise.all(Array.from({ length: 3 }, () => payOf("acme")));
      const others = await payOf("umbrella");
      const file = await fileOf(`${keys.join("\r\n")}\n\n${keys[0]}\n${randomUUID()}\n`);

      const answer = await world.run("erase", ["--keys-from", file, "-o", "pay", "-s", "acme", ...BY], true);

      expect(answer.asked).toEqual(["pay: permanently erase the stored answers of 4 keys?"]);
      expect(answer.status).toBe(1);
      expect(answer.text).toMatch(
        /^(pay#acme#\S+\n){4}pay#acme#\S+ {2}not erased: it has no record\nchanged 3 of 4$/,
      );
      for (const key of keys) expect(answer.text).not.toContain(key);
      for (const key of keys) expect(await isErased(key, "acme")).toBe(true);
      expect(await isErased(others, "umbrella")).toBe(false);
    });

    it("rejects a file with an invalid key, by its line and without the key, before any request", async () => {
      const file = await fileOf("order-1\n undefined-undefined\u0007\n");
      const run = world.run("erase", ["--keys-from", file, "-o", "pay", ...BY, "--yes"]);
      await expect(run).rejects.toThrow(/^line 2: (?!.*undefined-undefined)/s);

      const missing = world.run("erase", ["--keys-from", `${file}x`, "-o", "pay", ...BY, "--yes"]);
      await expect(missing).rejects.toThrow("keys.txtx: no such file");
    });

    it("H39: erases all of an owner by a scan, after its cost was shown, including items that no record names", async () => {
      const { store, clock, client, tableName } = world;
      const [acme, umbrella] = [`acme-${randomUUID()}`, `umbrella-${randomUUID()}`];
      const [paid, shipped, other] = [await payOf(acme), await payOf(acme, "ship"), await payOf(umbrella)];
      const { recordKey } = identify("pay", acme, paid);
      const secret = Array.from({ length: 400 }, () => `${SECRET} ${randomUUID()}`).join();
      const late = { recordKey, token: "late", now: clock.now(), result: JSON.stringify(secret) };
      const end = { ...late, state: "completed", expiresAt: clock.now() / 1000 + 600 } as const;
      expect(await store.settle({ ...end, writes: [], messages: [] })).toMatchObject({ settled: false });
      await client.send(
        new PutItemCommand({
          TableName: tableName,
          Item: { pk: { S: `order#${acme}#7` }, card: { S: SECRET } },
        }),
      );

      const args = ["erase", "--scan", "-s", acme, ...BY];
      expect(await world.run(args[0]!, args.slice(1), false)).toMatchObject({ status: 1 });
      expect(await isErased(paid, acme)).toBe(false);
      const answer = await world.run(args[0]!, args.slice(1), true);

      expect(answer.asked).toEqual([
        expect.stringContaining("a scan reads the whole table"),
        "all operations: permanently erase the stored answers of 2 keys of this owner?",
      ]);
      expect(answer).toMatchObject({ status: 0 });
      expect(answer.text).toContain("changed 2 of 2");
      expect([await isErased(paid, acme), await isErased(shipped, acme, "ship")]).toEqual([true, true]);
      expect(await isErased(other, umbrella)).toBe(false);
      const { Items = [] } = await client.send(
        new ScanCommand({ TableName: tableName, ConsistentRead: true }),
      );
      const own = Items.filter(({ pk }) => pk?.S?.startsWith(recordKey));
      expect(own).toHaveLength(2);
      expect(own.filter(({ result }) => result?.S !== "not kept")).toEqual([]);
      expect(Items.find(({ pk }) => pk?.S === `order#${acme}#7`)).toMatchObject({ card: { S: SECRET } });
    });

    it("erases records of only one operation if one is given, and writes nothing in a dry run", async () => {
      const scope = `acme-${randomUUID()}`;
      const [paid, shipped] = [await payOf(scope), await payOf(scope, "ship")];
      const args = ["--scan", "-s", scope, "-o", "ship", ...BY, "--yes"];

      const dry = await world.run("erase", [...args, "--dry-run"]);
      expect(dry.text).toContain("dry run: nothing was written");
      expect(await isErased(shipped, scope, "ship")).toBe(false);
      expect(await world.run("erase", args)).toMatchObject({ status: 0 });

      expect([await isErased(paid, scope), await isErased(shipped, scope, "ship")]).toEqual([false, true]);
    });

    it.each([
      [["--scan"], "--scan needs --scope, --operation or both"],
      [["k", "--scan", "-s", "acme"], "pass only one of a key, --keys-from or --scan"],
      [["k", "--keys-from", "file", "-o", "pay"], "pass only one of a key, --keys-from or --scan"],
      [["--keys-from", "file"], "--operation is required"],
      [["--scan", "-s", ""], "--scope is empty: is a shell variable unset?"],
      [["", "-o", "pay"], "an argument is empty: is a shell variable unset?"],
    ])("refuses %j", async (args, message) => {
      await expect(world.run("erase", [...args, ...BY, "--yes"])).rejects.toThrow(message);
    });
  });

  it.each([
    [{ operation: "pay" }, { by: "a", why: "b" }, "`store`"],
    [{ operation: "pay", tableName: "t" }, { by: "a", why: "b" }, "`tableName` isn't an option"],
    [{ operation: "", store: new MemoryStore() }, { by: "a", why: "b" }, "`operation`"],
    [{ operation: "pay", store: new MemoryStore() }, { by: "a" }, "`why`"],
    [
      { operation: "pay", store: new MemoryStore() },
      { by: "a", why: "b", key: "k" },
      "`key` isn't an option",
    ],
  ])("refuses %o with %j before any request", async (given, erasure, message) => {
    await expect(eraseResult(given as never, "k", erasure as never)).rejects.toThrow(message);
  });
});

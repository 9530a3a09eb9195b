import { randomUUID } from "node:crypto";
import { GetItemCommand, PutItemCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { PermanentError, ResultNotKeptError } from "../../lib/core/errors.ts";
import { identify } from "../../lib/core/identity.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import { cached } from "../../lib/stores/cached.ts";
import { encrypted } from "../../lib/stores/encrypted.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { connect, createTable } from "../kit/tables.ts";
import { keyService } from "./privacy-given.ts";

const SECRET = "canary-4711";
const never = () => expect.unreachable("it ran again");

const { endpoint } = inject("dynamodbEngines")[0]!;
const client = connect(endpoint);

let tableName: string;
let plain: DynamoDBStore;

beforeAll(async () => {
  tableName = await createTable(client);
  plain = new DynamoDBStore({ tableName, client });
});

function newWorld({ reuseKeysSeconds = 300 } = {}) {
  const keys = keyService();
  const clock = fakeClock(Date.now());
  const store = encrypted(plain, { keys, clock, reuseKeysSeconds });
  const key = randomUUID();
  const options = { operation: "pay", scope: "acme", store, clock, leaseSeconds: 30 };
  return { keys, clock, store, key, options, recordKey: identify("pay", "acme", key).recordKey };
}

/** All items of the table as text, compressed results included. */
async function tableText(): Promise<string> {
  const { Items } = await client.send(new ScanCommand({ TableName: tableName, ConsistentRead: true }));
  return JSON.stringify(Items, (_, value) =>
    value?.type === "Buffer" ? Buffer.from(value.data).toString("latin1") : value,
  );
}

const itemOf = async (pk: string) =>
  (
    await client.send(
      new GetItemCommand({ TableName: tableName, Key: { pk: { S: pk } }, ConsistentRead: true }),
    )
  ).Item!;

describe("encrypted", () => {
  it.each([
    ["a small result", { card: SECRET }],
    ["a result that is compressed", { card: SECRET, text: `${SECRET} `.repeat(300) }],
    [
      "a result in an item of its own",
      { card: SECRET, text: Array.from({ length: 2000 }, () => randomUUID()) },
    ],
    ["a text", SECRET],
    ["nothing", undefined],
    ["null", null],
  ])("H38: replays %s, and the table holds no secret", async (_, result) => {
    const { options, key } = newWorld();

    const first = await runOnce(options, key, {}, () => result);
    const second = await runOnce(options, key, {}, never);

    expect([first, second]).toEqual([result, result]);
    expect(await tableText()).not.toContain(SECRET);
  });

  it("H38: seals the error of a handler, and the results of its steps, also after a take-over", async () => {
    const { options, key, clock } = newWorld();
    const other = randomUUID();

    const pay = () =>
      runOnce(options, key, {}, async ({ step }) => {
        const first = await step("reserve", () => ({ card: SECRET }));
        const second = await step("charge", () => {
          throw new Error("no answer");
        });
        return [first, second];
      });
    await expect(pay()).rejects.toThrow("no answer");
    await clock.advance(60_000);
    const resumed = await runOnce(options, key, {}, async ({ step }) => [
      await step("reserve", never),
      await step("charge", () => SECRET),
    ]);
    const fails = () => {
      throw new PermanentError(`card ${SECRET}`);
    };
    await expect(runOnce(options, other, {}, fails)).rejects.toThrow(SECRET);
    await expect(runOnce(options, other, {}, never)).rejects.toThrow(`card ${SECRET}`);

    expect(resumed).toEqual([{ card: SECRET }, SECRET]);
    expect(await tableText()).not.toContain(SECRET);
  });

  it("asks the key service once for many calls of one owner, and once more for another owner", async () => {
    const { options, keys, clock } = newWorld();
    const pay = (scope: string) => runOnce({ ...options, scope }, randomUUID(), {}, () => SECRET);

    await Promise.all([pay("acme"), pay("acme"), pay("acme")]);
    await pay("globex");
    await clock.advance(301_000);
    await pay("acme");

    const acme = { operation: "pay", scope: "acme" };
    expect(keys.asked).toEqual({
      generate: [acme, { operation: "pay", scope: "globex" }, acme],
      decrypt: [],
    });
  });

  it("does not run a handler if no key can be had, and leaves the idempotency key as it was", async () => {
    const { options, key, keys } = newWorld();
    keys.failure = new Error("no answer from the key service");

    await expect(runOnce(options, key, {}, never)).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      retryable: true,
    });
    keys.failure = undefined;

    expect(await runOnce(options, key, {}, ({ attempt }) => attempt)).toBe(1);
  });

  it("records the outcome under the previous key if the service fails in between", async () => {
    const { options, key, keys, clock } = newWorld({ reuseKeysSeconds: 10 });

    const first = await runOnce(options, key, {}, async () => {
      await clock.advance(20_000);
      keys.failure = new Error("no answer from the key service");
      return SECRET;
    });
    keys.failure = undefined;

    expect([first, await runOnce(options, key, {}, never)]).toEqual([SECRET, SECRET]);
    expect(await tableText()).not.toContain(SECRET);
  });

  it("H39: a replay after the key was deleted reports that the result is not kept, and nothing runs again", async () => {
    const { options, key, keys } = newWorld({ reuseKeysSeconds: 0 });
    await runOnce(options, key, {}, () => SECRET);
    keys.forgetAll();

    const replay = runOnce(options, key, {}, never);
    await expect(replay).rejects.toBeInstanceOf(ResultNotKeptError);
    await expect(replay).rejects.toThrow("the operation is done, but its result wasn't kept");
  });

  it("a replay fails for the moment while the key service does, and is answered later", async () => {
    const { options, key, keys } = newWorld({ reuseKeysSeconds: 0 });
    await runOnce(options, key, {}, () => SECRET);
    const failing = keyService();
    const store = encrypted(plain, {
      keys: { ...keys, decrypt: () => failing.decrypt(Buffer.alloc(0), options) },
    });
    failing.failure = new Error("no answer from the key service");

    await expect(runOnce({ ...options, store }, key, {}, never)).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
    expect(await runOnce(options, key, {}, never)).toBe(SECRET);
  });

  it("opens no result that was changed, or moved to another record", async () => {
    const { options, key, recordKey } = newWorld();
    const other = randomUUID();
    await runOnce(options, key, {}, () => SECRET);
    await runOnce(options, other, {}, () => "other");
    const otherKey = identify("pay", "acme", other).recordKey;
    const item = await itemOf(recordKey);
    const put = (result: typeof item.result) =>
      client.send(new PutItemCommand({ TableName: tableName, Item: { ...item, result: result! } }));

    await put((await itemOf(otherKey)).result);
    await expect(runOnce(options, key, {}, never)).rejects.toMatchObject({ code: "RECORD_CORRUPT" });
    await put({ S: `${item.result!.S!.slice(0, -2)}AA` });
    const error = await runOnce(options, key, {}, never).catch((failure: Error) => failure);

    expect(error).toMatchObject({ code: "RECORD_CORRUPT" });
    expect(`${error}`).not.toContain(item.result!.S!.slice(0, 20));
  });

  it("reads records from before the encryption, and a store without keys does not mistake sealed data for a result", async () => {
    const { options, key } = newWorld();
    const other = randomUUID();
    await runOnce({ ...options, store: plain }, key, {}, () => "before");
    await runOnce(options, other, {}, () => SECRET);

    expect(await runOnce(options, key, {}, never)).toBe("before");
    await expect(runOnce({ ...options, store: plain }, other, {}, never)).rejects.toMatchObject({
      code: "RECORD_CORRUPT",
    });
  });

  it("a cache in front of it replays without a request to the key service", async () => {
    const { options, key, store, keys, clock } = newWorld({ reuseKeysSeconds: 0 });
    const front = { ...options, store: cached(store, { clock }) };
    await runOnce(front, key, {}, () => SECRET);
    await runOnce(front, key, {}, never);
    const { length } = keys.asked.decrypt;

    expect(await runOnce(front, key, {}, never)).toBe(SECRET);
    expect([length, keys.asked.decrypt.length]).toEqual([1, 1]);
  });

  it.each([
    [{ keys: undefined }, "keys"],
    [{ keys: { generate: () => {} } }, "keys"],
    [{ reuseKeysSeconds: 300_000 }, "reuseKeysSeconds"],
    [{ key: "k" }, "key"],
  ])("rejects %j immediately", (change, name) => {
    expect(() => encrypted(plain, { keys: keyService(), ...change } as never)).toThrow(name);
  });
});

import { createHash, randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { RecordCorruptError, ResultNotKeptError } from "../../lib/core/errors.ts";
import { identify } from "../../lib/core/identity.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import { itemSize } from "../kit/counting-client.ts";
import { aroundRequests } from "../kit/faults/around-requests.ts";
import { connect, createTable } from "../kit/tables.ts";
import { claimOf, NOW } from "./given.ts";

const KB = 1024;

/** Text that compresses by a quarter at most, the same for the same seed. */
function noise(bytes: number, seed = "seed"): string {
  let text = "";
  for (let block = 0; text.length < bytes; block++)
    text += createHash("sha512").update(`${seed}:${block}`).digest("base64url");
  return text.slice(0, bytes);
}

describe.each(inject("dynamodbEngines"))("Results of DynamoDBStore on $name", ({ endpoint }) => {
  const client = connect(endpoint);
  let TableName: string;
  let store: DynamoDBStore;

  beforeAll(async () => {
    TableName = await createTable(client);
    store = new DynamoDBStore({ tableName: TableName, client });
  });

  const getItem = async (pk: string) =>
    (await client.send(new GetItemCommand({ TableName, Key: marshall({ pk }), ConsistentRead: true }))).Item;

  /** Runs to `result`, and then replays: the stored record and what the second caller got. */
  const runTwice = async (result: unknown, scope?: string) => {
    const options = { operation: "op", store, leaseSeconds: 30, ...(scope && { scope }) };
    const key = randomUUID();
    const first = await runOnce(options, key, {}, () => result);
    const item = (await getItem(identify("op", scope ?? "", key).recordKey)) ?? {};
    const second = await runOnce(options, key, {}, () => expect.unreachable());
    return { first, second, item };
  };

  it.each([
    ["300 bytes", noise(300), "S"],
    ["5 KB that compress well", "yes, ".repeat(KB), "B"],
    ["400 KB of one letter", "x".repeat(400 * KB), "B"],
  ])("H15: keeps a result of %s in the record, within one write unit", async (_, result, type) => {
    const { first, second, item } = await runTwice(result);

    expect([first, second]).toEqual([result, result]);
    expect(Object.keys(item.result ?? {})).toEqual([type]);
    expect(itemSize(item as never)).toBeLessThanOrEqual(KB);
  });

  it.each([
    ["1 KB", noise(KB)],
    ["4 KB", noise(4 * KB)],
    ["6 KB that compress to 4 KB and a half", noise(6 * KB - 128)],
    ["20 KB of orders", Array.from({ length: 600 }, (_, id) => ({ id, sku: noise(2, `${id}`) }))],
  ])("H15: keeps a result of %s in the record, within five write units", async (_, result) => {
    const { first, second, item } = await runTwice(result);

    expect([first, second]).toEqual([result, result]);
    expect(Object.keys(item.result ?? {})).toEqual(["B"]);
    expect(item).not.toHaveProperty("resultItem");
    expect(itemSize(item as never)).toBeGreaterThan(KB);
    expect(itemSize(item as never)).toBeLessThanOrEqual(5 * KB);
  });

  it("H15: a longer key leaves less room in the record: a result that doesn't fit gets an item", async () => {
    const { item } = await runTwice(noise(6 * KB - 128), "tenant ".repeat(36));

    expect(item).toHaveProperty("resultItem");
    expect(itemSize(item as never)).toBeLessThanOrEqual(2 * KB);
  });

  it("replays older records, whose results of 1 to 4 KB are in separate items", async () => {
    const options = { operation: "op", store, leaseSeconds: 30 };
    const key = randomUUID();
    const { recordKey } = identify("op", "", key);
    const resultItem = `${recordKey}#hash`;
    await runOnce(options, key, {}, () => "later there");
    const { result: _, ...item } = (await getItem(recordKey)) ?? {};
    const result = { B: gzipSync(JSON.stringify(noise(2 * KB))) };
    await client.send(new PutItemCommand({ TableName, Item: { pk: { S: resultItem }, result } }));
    await client.send(new PutItemCommand({ TableName, Item: { ...item, resultItem: { S: resultItem } } }));

    expect(await runOnce(options, key, {}, () => expect.unreachable())).toBe(noise(2 * KB));
  });

  it.each([
    ["16 MB of text are kept", 16 * KB * KB - 2, undefined],
    ["of a byte more only the fact", 16 * KB * KB - 1, 16 * KB * KB + 1],
  ])("H15: keeps a result that a function can unfold: %s", async (_, bytes, lost) => {
    const key = randomUUID();
    const options = { operation: "op", store, leaseSeconds: 30 };
    const call = () => runOnce(options, key, {}, () => "x".repeat(bytes));

    expect(await call()).toHaveLength(bytes);
    if (lost === undefined) expect(await call()).toHaveLength(bytes);
    else await expect(call()).rejects.toMatchObject({ code: "RESULT_NOT_KEPT", bytes: lost });
  });

  it("H21: refuses a record that points to the result of another tenant, which its own role cannot read", async () => {
    const options = { operation: "op", store, leaseSeconds: 30 };
    const key = randomUUID();
    await runOnce({ ...options, scope: "victim" }, key, {}, () => noise(10 * KB));
    await runOnce({ ...options, scope: "thief" }, key, {}, () => "own");
    const of = (scope: string) => identify("op", scope, key).recordKey;
    const { resultItem } = (await getItem(of("victim"))) ?? {};
    const { result: _, ...planted } = (await getItem(of("thief"))) ?? {};
    await client.send(
      new PutItemCommand({ TableName, Item: { ...planted, resultItem: resultItem as never } }),
    );

    const replay = runOnce({ ...options, scope: "thief" }, key, {}, () => expect.unreachable());

    await expect(replay).rejects.toMatchObject({ code: "RECORD_CORRUPT" });
    expect(await runOnce({ ...options, scope: "victim" }, key, {}, () => expect.unreachable())).toHaveLength(
      10 * KB,
    );
  });

  it("refuses a stored result that unfolds to more than was ever stored, without unfolding it", async () => {
    const key = randomUUID();
    const options = { operation: "op", store, leaseSeconds: 30 };
    await runOnce(options, key, {}, () => "small");
    const { recordKey } = identify("op", "", key);
    // 320 MB in 320 KB: members of one gzip file follow each other.
    const bomb = Buffer.concat(new Array(5).fill(gzipSync(Buffer.alloc(64 * KB * KB))));
    const item = { ...(await getItem(recordKey)), result: { B: bomb } };
    await client.send(new PutItemCommand({ TableName, Item: item as never }));
    const before = process.memoryUsage().rss;

    await expect(runOnce(options, key, {}, () => expect.unreachable())).rejects.toBeInstanceOf(
      RecordCorruptError,
    );

    expect(process.memoryUsage().rss - before).toBeLessThan(100 * KB * KB);
  });

  it.each([
    ["10 KB", noise(10 * KB), 10 * KB],
    ["40 KB", noise(40 * KB), 40 * KB],
    ["300 KB", noise(300 * KB), 300 * KB],
    ["500 KB that compress to what an item takes", noise(500 * KB), 400 * KB],
    [
      "1 MB of equal orders",
      Array.from({ length: 20_000 }, (_, id) => ({ id, status: "accepted" })),
      400 * KB,
    ],
  ])(
    "H15: keeps a result of %s in a separate item, and the record within one write unit",
    async (_, result, most) => {
      const { first, second, item } = await runTwice(result);

      expect([first, second]).toEqual([result, result]);
      expect(item).not.toHaveProperty("result");
      expect(itemSize(item as never)).toBeLessThanOrEqual(KB);
      const own = (await getItem(item.resultItem?.S as string)) ?? {};
      expect(itemSize(own as never)).toBeLessThanOrEqual(most);
      expect(own.expiresAt).toEqual(item.expiresAt);
      expect(item.resultItem?.S?.startsWith(item.pk?.S as string)).toBe(true);
    },
  );

  it("H15: a result of 1 MB that fits no item is done once, and replays say that it was not kept", async () => {
    const options = { operation: "op", store, leaseSeconds: 30 };
    const key = randomUUID();
    const result = noise(KB * KB);

    expect(await runOnce(options, key, {}, () => result)).toBe(result);

    const replay = runOnce(options, key, {}, () => expect.unreachable());
    await expect(replay).rejects.toThrow(ResultNotKeptError);
    await expect(replay).rejects.toMatchObject({ bytes: KB * KB + 2 });
  });

  it("uses the record up to the last bytes before a result gets a separate item", async () => {
    const sizes: number[] = [];
    for (let bytes = 400; bytes <= 900; bytes += 20) {
      const { item } = await runTwice(noise(bytes, randomUUID()));
      if (item.result !== undefined) sizes.push(itemSize(item as never));
    }

    expect(Math.max(...sizes)).toBeLessThanOrEqual(KB);
    expect(Math.max(...sizes)).toBeGreaterThan(900);
  });

  it("keeps small results of a very long scope too", async () => {
    const { second, item } = await runTwice("small", "ä#".repeat(128));

    expect(second).toBe("small");
    expect(item.resultItem ?? item.result).toBeDefined();
  });

  it("stores another result of the same attempt elsewhere, so a late write changes nothing", async () => {
    const claim = claimOf("mine");
    const refused = [
      { ConditionCheck: { TableName, Key: { pk: "gone" }, ConditionExpression: "attribute_exists(pk)" } },
    ];
    const settlement = { ...claim, now: NOW, state: "completed", writes: refused, messages: [] } as const;
    await store.claim(claim);
    await expect(store.settle({ ...settlement, result: noise(10 * KB, "a") })).rejects.toMatchObject({
      index: 0,
    });

    await store.settle({ ...settlement, writes: [], result: noise(10 * KB, "b") });
    await expect(store.settle({ ...settlement, result: noise(10 * KB, "a") })).resolves.toEqual({
      settled: true,
    });

    const record = await store.find(claim.recordKey, { consistent: true });
    expect(record?.result?.in).toBe("item");
    const address = record?.result?.in === "item" ? record.result.address : "";
    expect(await store.loadResult(address)).toBe(noise(10 * KB, "b"));
  });

  it("H14: a read that is stale and misses a result is confirmed by a consistent one", async () => {
    const { item } = await runTwice(noise(10 * KB));
    const stale = connect(endpoint);
    const reads: unknown[] = [];
    aroundRequests(stale, async ({ input, send }) => {
      const { ConsistentRead } = input as { ConsistentRead: boolean };
      reads.push(ConsistentRead);
      const answer = await send();
      return ConsistentRead ? answer : { ...answer, output: { $metadata: {} } };
    });

    const text = await new DynamoDBStore({ tableName: TableName, client: stale }).loadResult(
      item.resultItem?.S as string,
    );

    expect(text).toBe(JSON.stringify(noise(10 * KB)));
    expect(reads).toEqual([false, true]);
  });

  it("fails closed on results that cannot be read: in the record, in an item, or gone", async () => {
    const options = { operation: "op", store, leaseSeconds: 30 };
    for (const broken of [
      { result: new Uint8Array([1, 2, 3]) },
      { result: 7 },
      { resultItem: "nowhere" },
      { resultItem: 7 },
      { resultBytes: "many" },
    ]) {
      const key = randomUUID();
      const { recordKey } = identify("op", "", key);
      await runOnce(options, key, {}, () => "done");
      const { result: _, ...item } = (await getItem(recordKey)) ?? {};
      await client.send(new PutItemCommand({ TableName, Item: { ...item, ...marshall(broken) } }));

      const replay = runOnce(options, key, {}, () => expect.unreachable());

      await expect(replay).rejects.toThrow(RecordCorruptError);
    }
  });

  it("treats an item with a result that is neither a string nor a compressed string as corrupt", async () => {
    const pk = randomUUID();
    await client.send(new PutItemCommand({ TableName, Item: marshall({ pk, other: 1 }) }));

    await expect(store.loadResult(pk)).rejects.toThrow(RecordCorruptError);
  });
});

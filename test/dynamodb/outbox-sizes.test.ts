// Messages that do not fit into their record, and those that fit nowhere.

import { randomBytes, randomUUID } from "node:crypto";
import { DeleteItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { identify } from "../../lib/core/identity.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { countRequests } from "../kit/counting-client.ts";
import { aroundRequests } from "../kit/faults/around-requests.ts";
import { connect } from "../kit/tables.ts";
import { NOW } from "./given.ts";
import { MODES, messageOf, newOutboxTable, type OutboxTable } from "./outbox-given.ts";

/** How many bytes messages may take of the largest item, and how many a message takes beside its body. */
const ITEM_BYTES = 392 * 1024;
const AROUND = JSON.stringify(messageOf("m/0", 0)).length + 1;
const LARGEST = ITEM_BYTES - AROUND;

/** Each of them needs an item of its own. */
const large = (count: number) =>
  Array.from({ length: count }, (_, index) => messageOf(`m/${index}`, 380_000));

describe.each(inject("dynamodbEngines"))("large messages on $name", ({ endpoint }) => {
  const client = connect(endpoint);
  let table: OutboxTable;
  let counts: ReturnType<typeof countRequests>;

  beforeAll(async () => {
    table = await newOutboxTable(client, endpoint);
    counts = countRequests(client);
  });

  beforeEach(() => counts.reset());

  const puts = (count: number, bytes = 1) =>
    Array.from({ length: count }, () => table.put(randomUUID(), { blob: "x".repeat(bytes) }));

  it.each(MODES)("up to some 3 KB are in the record, by one write, %s", async (mode) => {
    const messages = [messageOf("m/0", 3000)];
    const { recordKey, finish } = await table.begin(mode, { messages });
    counts.reset();

    expect(await finish()).toEqual({ settled: true });

    expect(counts.commands).toEqual([mode === "claimed" ? "UpdateItem" : "PutItem"]);
    expect(await table.itemKeys(recordKey)).toEqual([recordKey]);
    expect((await table.outbox.load(recordKey))?.messages).toEqual(messages);
  });

  it.each([3300, 3600, LARGEST].flatMap((bytes) => [600, 3000, 4600].map((most) => [bytes, most] as const)))(
    "a refused claim costs 5 write units at most, whatever waits: messages of %i bytes, a result of %i",
    async (bytes, most) => {
      const result = JSON.stringify(randomBytes((most * 3) / 4 - 50).toString("base64url"));
      const commit = await table.begin("claimed", { messages: [messageOf("m/0", bytes)], result });
      await commit.finish();
      counts.reset();

      expect(await table.store.claim({ ...commit, token: "another", leaseEndsAt: NOW })).toMatchObject({
        won: false,
      });

      expect([counts.requests, counts.readUnits]).toEqual([1, 0]);
      expect(counts.writeUnits).toBeLessThanOrEqual(5);
    },
  );

  it.each(MODES)(
    "with them a result of 700 bytes stays in the record, and a larger one leaves it, %s",
    async (mode) => {
      for (const [bytes, keys] of [
        [500, 1],
        [1500, 2],
      ] as const) {
        const result = JSON.stringify(randomBytes(bytes).toString("base64url"));
        const { recordKey, finish } = await table.begin(mode, { messages: [messageOf("m/0", 3200)], result });

        await finish();

        expect(await table.itemKeys(recordKey)).toHaveLength(keys);
        expect(await table.read(recordKey)).toHaveProperty("messages");
        expect(await table.store.find(recordKey, { consistent: true })).toMatchObject({ state: "completed" });
      }
    },
  );

  it.each(MODES)(
    "more go to separate items, and leave with the mark, a transaction each, %s",
    async (mode) => {
      const { outbox, itemKeys } = table;
      const messages = [
        ...large(1),
        messageOf("small"),
        ...large(3).slice(1),
        messageOf("é"),
        messageOf("end", LARGEST),
      ];
      const { recordKey, finish } = await table.begin(mode, { messages, writes: puts(1) });
      counts.reset();

      expect(await finish()).toEqual({ settled: true });

      expect(counts.commands).toEqual(["TransactWriteItems"]);
      expect(await itemKeys(recordKey)).toHaveLength(1 + 4);
      const unsent = (await outbox.load(recordKey))!;
      expect(unsent.messages).toEqual(messages);
      counts.reset();
      await outbox.markSent(unsent);
      expect(counts.commands).toEqual(["TransactWriteItems"]);
      expect(await itemKeys(recordKey)).toEqual([recordKey]);
      expect(await table.read(recordKey)).toMatchObject({ state: "completed", result: '"done"' });
      await outbox.markSent(unsent);
      expect(await outbox.load(recordKey)).toBeUndefined();
    },
  );

  it.each(MODES)("two attempts that spill do not touch each other's items, %s", async (mode) => {
    const { store, outbox, begin, itemKeys } = table;
    const loser = await begin(mode, { messages: large(2), token: "loser" });
    const winner = { ...loser, token: "winner", messages: large(3) };
    const claim = { ...winner, leaseEndsAt: NOW + 70_000 };
    const seen = await store.find(loser.recordKey, { consistent: true });
    if (mode === "claimed") await store.claim(claim, seen);
    await (mode === "claimed" ? store.settle(winner) : store.insert(winner));

    expect(await loser.finish()).toMatchObject({ settled: false, record: { token: "winner" } });

    expect(await itemKeys(loser.recordKey)).toHaveLength(1 + 3);
    expect(await outbox.load(loser.recordKey)).toMatchObject({ token: "winner", messages: winner.messages });
  });

  it("the longest record key there is leaves room for both kinds of items", async () => {
    const { recordKey } = identify("#".repeat(64), `a${"\u0080".repeat(255)}`, "key");
    const result = JSON.stringify(Array.from({ length: 400 }, () => randomUUID()));

    for (const messages of [[messageOf("m/0", 2000)], [messageOf("m/0", LARGEST)], large(2)]) {
      const { finish } = await table.begin("optimistic", { recordKey, messages, result });
      expect(await finish()).toEqual({ settled: true });
      const unsent = (await table.outbox.load(recordKey))!;
      expect(unsent.messages).toEqual(messages);
      await table.outbox.markSent(unsent);
      await client.send(
        new DeleteItemCommand({ TableName: table.tableName, Key: marshall({ pk: recordKey }) }),
      );
    }
  });

  it("another sender marks them while they are loaded: nothing is left to send", async () => {
    const { outbox, begin } = table;
    const { recordKey, finish } = await begin("optimistic", { messages: large(2) });
    await finish();
    const unsent = (await outbox.load(recordKey))!;
    let reads = 0;
    const stop = aroundRequests(client, async ({ command, send }) => {
      const answer = await send();
      if (command === "GetItem" && ++reads === 1) await outbox.markSent(unsent);
      return answer;
    });

    const loading = outbox.load(recordKey).finally(stop);

    expect(await loading).toBeUndefined();
    expect(reads).toBe(4);
  });

  it("an item that is gone while they wait is reported as corrupt, and nothing is marked", async () => {
    const { outbox, begin, itemKeys, tableName } = table;
    const { recordKey, finish } = await begin("optimistic", { messages: large(2) });
    await finish();
    const pk = (await itemKeys(recordKey)).find((key) => key !== recordKey);
    await client.send(new DeleteItemCommand({ TableName: tableName, Key: marshall({ pk }) }));

    await expect(outbox.load(recordKey)).rejects.toMatchObject({ code: "RECORD_CORRUPT" });

    expect(await table.read(recordKey)).toHaveProperty("unsentSince");
  });

  describe.each(MODES)("a commit, %s", (mode) => {
    const commit = (messages: readonly object[], writes: readonly DynamoDBWrite[] = []) => {
      const options = {
        operation: "op",
        store: table.store,
        leaseSeconds: 30,
        mode,
        lookFirst: false,
      } as const;
      return runOnce<unknown, DynamoDBWrite>(
        mode === "claimed" ? { operation: "op", store: table.store, leaseSeconds: 30 } : options,
        randomUUID(),
        {},
        async (execution) => {
          counts.reset();
          try {
            return await execution.commit("done", { writes, messages: messages as never });
          } catch (error) {
            expect(counts.requests).toBe(0);
            throw error;
          }
        },
      );
    };

    it.each([
      ["a message that fits no item", () => commit([messageOf("m/0", LARGEST + 1)])],
      ["messages of more than 4 MB", () => commit(large(12))],
      ["messages and writes of more than 4 MB", () => commit(large(6), puts(5, 390_000))],
      ["more than 100 items with the record's", () => commit(large(2), puts(98))],
    ])("refuses %s before any request", async (_, refused) => {
      await expect(refused()).rejects.toMatchObject({ code: "OUTBOX_TRANSACTION_TOO_LARGE" });
    });

    it.each([
      ["100 items with the record's", () => commit(large(2), puts(97))],
      ["99 writes beside messages in the record", () => commit([messageOf("m/0")], puts(99))],
      ["98 writes beside a message in an item", () => commit([messageOf("m/0", 5000)], puts(98))],
      ["some 4 MB of messages and writes", () => commit(large(6), puts(4, 390_000))],
    ])("accepts %s", async (_, taken) => {
      expect(await taken()).toBe("done");
    });

    it("rejects a commit as invalid that is too large even without its messages", async () => {
      await expect(commit([], puts(100))).rejects.toMatchObject({ code: "COMMIT_INVALID" });
    });
  });
});

// Commits and marks whose answers get lost, or that somebody else was faster with.

import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { OUTBOX_SHARDS } from "../../lib/contract.ts";
import type { FoundUnsent } from "../../lib/core/messages/outbox.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import { DynamoDBOutbox } from "../../lib/dynamodb/dynamodb-outbox.ts";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { aroundRequests } from "../kit/faults/around-requests.ts";
import { clientError, failWith, loseAnswers } from "../kit/faults/faulty-client.ts";
import { connect, createTable } from "../kit/tables.ts";
import { MODES, messageOf, newOutboxTable, type OutboxTable } from "./outbox-given.ts";

const SIZES = [
  ["in the record", 20],
  ["in items of their own", 300_000],
] as const;

describe.each(inject("dynamodbEngines"))("DynamoDBOutbox on $name, when answers get lost", ({ endpoint }) => {
  // One try more than answers get lost, so that the SDK itself repeats.
  const client = connect(endpoint, { maxAttempts: 4 });
  let table: OutboxTable;

  beforeAll(async () => {
    table = await newOutboxTable(client, endpoint);
  });

  const changes = async () => {
    const read = (await table.nextChanges()).map((change) => table.outbox.readChange(change));
    return read.filter((change) => change !== undefined);
  };

  for (const [where, bytes] of SIZES) {
    const messages = [messageOf("1", bytes), messageOf("2", bytes)];

    for (const mode of MODES) {
      it.each([1, 2, 3])(
        `H8: a commit of messages ${where} is one commit, ${mode}, although the answer got lost %i times`,
        async (times) => {
          const options = { operation: "op", store: table.store, leaseSeconds: 30, mode };
          const key = randomUUID();
          let runs = 0;
          const run = () =>
            runOnce<unknown, DynamoDBWrite>(options, key, {}, (execution) => {
              loseAnswers(client, times);
              // A second application would be refused by the condition of this write.
              const write = { Put: { TableName: table.tableName, Item: { pk: key } } };
              Object.assign(write.Put, { ConditionExpression: "attribute_not_exists(pk)" });
              return execution.commit(++runs, { writes: [write], messages: messages as never });
            });

          expect([await run(), await run()]).toEqual([1, 1]);

          const left = await changes();
          expect(left).toHaveLength(1);
          expect((await table.outbox.load(left[0]!.recordKey))?.messages).toEqual(messages);
        },
      );
    }

    it.each([1, 2, 3])(
      `H33: a mark of messages ${where} is one mark although the answer got lost %i times`,
      async (times) => {
        const { recordKey, finish } = await table.begin("claimed", { messages });
        await finish();
        const unsent = (await table.outbox.load(recordKey))!;
        await changes();
        loseAnswers(client, times);

        await table.outbox.markSent(unsent);

        const after = await table.nextChanges();
        const ofRecord = after.filter(({ dynamodb }) => dynamodb.Keys.pk?.S === recordKey);
        expect(ofRecord).toHaveLength(1);
        expect(await table.outbox.load(recordKey)).toBeUndefined();
        expect(await table.itemKeys(recordKey)).toEqual([recordKey]);
      },
    );
  }

  it("H33: a mark that may or may not exist reports it, and marking again does no harm", async () => {
    const { recordKey, finish } = await table.begin("claimed");
    await finish();
    const unsent = (await table.outbox.load(recordKey))!;
    loseAnswers(client, 4);

    await expect(table.outbox.markSent(unsent)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });

    await table.outbox.markSent(unsent);
    expect(await table.outbox.load(recordKey)).toBeUndefined();
  });

  it("H33: of two simultaneous marks one applies, and both succeed", async () => {
    for (const [, bytes] of SIZES) {
      const messages = [messageOf("1", bytes), messageOf("2", bytes)];
      const { recordKey, finish } = await table.begin("claimed", { messages });
      await finish();
      const unsent = (await table.outbox.load(recordKey))!;
      const mark = () =>
        table.outbox.markSent(unsent).catch((error) => (error as { failure: string }).failure);

      const ends = await Promise.all([mark(), mark(), mark()]);

      // In a transaction the slower one may get an error that asks it to try again.
      expect(ends.filter((end) => end === true)).toHaveLength(1);
      expect(ends.filter((end) => end !== true && end !== false && end !== "conflict")).toEqual([]);
      await table.outbox.markSent(unsent);
      expect(await table.outbox.load(recordKey)).toBeUndefined();
    }
  });

  it("every method reports failures of the engine as such", async () => {
    const { recordKey, finish } = await table.begin("claimed");
    await finish();
    const unsent = (await table.outbox.load(recordKey))!;
    const find = async () => {
      for await (const page of table.outbox.findUnsent(0, 1)) return page;
      return undefined;
    };

    for (const request of [() => table.outbox.load(recordKey), () => table.outbox.markSent(unsent), find]) {
      failWith(client, clientError("ProvisionedThroughputExceededException"));
      await expect(request()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", failure: "throttled" });
    }
  });

  it("H14: unsent messages are read consistently: the record, and its separate items", async () => {
    const messages = [messageOf("1", 300_000), messageOf("2", 300_000)];
    const { recordKey, finish } = await table.begin("claimed", { messages });
    await finish();
    const reads: unknown[] = [];
    const stop = aroundRequests(client, ({ input, send }) => {
      reads.push((input as { ConsistentRead?: boolean }).ConsistentRead);
      return send();
    });

    await table.outbox.load(recordKey).finally(stop);

    expect(reads).toEqual([true, true, true]);
  });

  it("finds nothing through a missing index, and reports that", async () => {
    const outbox = new DynamoDBOutbox({ tableName: await createTable(client), client });

    const finding = outbox.findUnsent(0, 1).next();

    await expect(finding).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", failure: "refused" });
  });

  it("finds what waits page by page, in the order of the commits", async () => {
    const fresh = await newOutboxTable(client, endpoint);
    const keys: string[] = [];
    // More than a page holds.
    for (let index = 0; index < 1020; index++) {
      const { recordKey, finish } = await fresh.begin("optimistic", { now: 1_900_000_000_000 + index });
      await finish();
      keys.push(recordKey);
    }
    const pages: (readonly FoundUnsent[])[] = [];

    for (let shard = 0; shard < OUTBOX_SHARDS; shard++) {
      for await (const page of fresh.outbox.findUnsent(shard, 1_900_000_001_010)) pages.push(page);
    }

    expect(pages.flat().map(({ recordKey }) => recordKey)).toEqual(keys.slice(0, 1010));
    expect(pages.flat()[0]?.dueAt).toBe(1_900_000_000_000);
    expect(pages.filter((page) => page.length > 0).map((page) => page.length)).toEqual([1000, 10]);
  });
});

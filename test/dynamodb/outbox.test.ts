// What the outbox reads of a table's real stream, and of records in any shape.
import { randomUUID } from "node:crypto";
import { DeleteItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { beforeAll, describe, expect, inject, it } from "vitest";
import type { Unsent } from "../../lib/core/messages/outbox.ts";
import { countRequests } from "../kit/counting-client.ts";
import { connect } from "../kit/tables.ts";
import { COMMITTED_AT, MODES, messageOf, newOutboxTable, type OutboxTable } from "./outbox-given.ts";

const TABLES = [
  ["its own table", false],
  ["a table with other keys", true],
] as const;

/** Twice that does not fit into a record. */
const HALF = 200_000;

describe.each(inject("dynamodbEngines"))("DynamoDBOutbox on $name", ({ endpoint }) => {
  const client = connect(endpoint);
  const counts = countRequests(client);

  describe.each(TABLES)("in %s", (_, hasOtherKeys) => {
    let table: OutboxTable;

    beforeAll(async () => {
      table = await newOutboxTable(client, endpoint, hasOtherKeys);
    });

    const toSend = async () => {
      const changes = await table.nextChanges();
      const found = changes.map((change) => table.outbox.readChange(change));
      return { changes: changes.length, found: found.filter((each) => each !== undefined) };
    };

    it.each(MODES)(
      "of all changes that belong to a commit, %s, exactly one has something to send",
      async (mode) => {
        const { outbox, put, begin } = table;
        // A result that goes to an item of its own, and two business items.
        const result = JSON.stringify(Array.from({ length: 400 }, () => randomUUID()));
        const commit = await begin(mode, { result, writes: [put(randomUUID()), put(randomUUID())] });
        await commit.finish();
        await outbox.markSent((await outbox.load(commit.recordKey))!);
        await client.send(
          new DeleteItemCommand({ TableName: table.tableName, Key: marshall(table.key(commit.recordKey)) }),
        );

        const { changes, found } = await toSend();

        expect(changes).toBe(mode === "claimed" ? 8 : 7);
        expect(found).toMatchObject([
          {
            recordKey: commit.recordKey,
            committedAt: COMMITTED_AT,
            unsent: { recordKey: commit.recordKey, token: commit.token, committedAt: COMMITTED_AT },
          },
        ]);
        expect(found[0]?.unsent?.messages).toEqual(commit.messages);
      },
    );

    it.each(MODES)("messages in separate items, %s, are one change, and have to be loaded", async (mode) => {
      const { outbox, begin } = table;
      const messages = [messageOf("1", HALF), messageOf("2", HALF), messageOf("3", HALF)];
      const commit = await begin(mode, { messages });
      await commit.finish();

      const { found } = await toSend();

      expect(found).toStrictEqual([{ recordKey: commit.recordKey, committedAt: COMMITTED_AT }]);
      const unsent = await outbox.load(commit.recordKey);
      expect(unsent?.messages).toEqual(messages);
      await outbox.markSent(unsent!);
      expect((await toSend()).found).toEqual([]);
    });

    it("the image of a commit is enough to mark it", async () => {
      const commit = await table.begin("claimed");
      await commit.finish();
      const [change] = (await toSend()).found;

      await table.outbox.markSent(change?.unsent as Unsent);

      expect(await table.outbox.load(commit.recordKey)).toBeUndefined();
    });

    it("a record that commits nothing, is released or fails has nothing to send", async () => {
      for (const state of ["completed", "failed", "released", "held"] as const) {
        const { recordKey } = await table.begin("claimed");
        const settlement = { recordKey, token: "mine", now: COMMITTED_AT, state, writes: [], messages: [] };
        await table.store.settle(settlement);
      }

      expect((await toSend()).found).toEqual([]);
    });

    it("H34: a record with messages does not expire before they are sent, however late, and then as others do", async () => {
      const ttl = hasOtherKeys ? "ttl" : "expiresAt";
      for (const mode of MODES) {
        const { recordKey, expiresAt, finish } = await table.begin(mode);
        await finish();
        const waiting = await table.read(recordKey);

        await table.outbox.markSent((await table.outbox.load(recordKey))!);

        expect(waiting).not.toHaveProperty(ttl);
        const {
          [ttl]: expiry,
          messages,
          unsentSince,
          unsentShard,
          expiresOnceSent,
        } = (await table.read(recordKey))!;
        expect(expiry).toBe(expiresAt);
        expect([messages, unsentSince, unsentShard, expiresOnceSent]).toEqual(Array(4).fill(undefined));
      }
    });

    describe.each([
      ["a later version", { version: 2 }],
      ["no token", { token: undefined }],
      ["no messages", { messages: undefined }],
      ["messages that are no JSON", { messages: "[{" }],
      ["messages that are no list", { messages: "{}" }],
      ["no text as messages", { messages: 7 }],
      ["more messages than a commit takes", { messages: JSON.stringify(Array(1001).fill(0)) }],
      ["a count of items that is none", { messages: undefined, messageItems: "many" }],
      ["more items than a commit has", { messages: undefined, messageItems: 20_000 }],
      ["a part of an item", { messages: undefined, messageItems: 1.5 }],
      ["no shard", { unsentShard: undefined }],
      ["progress that is none", { delivery: "[]" }],
      ["progress of other messages", { delivery: '{"of":"0","is":[["waiting",1]]}' }],
      ["progress in an unknown state", { delivery: '{"of":"00","is":[["lost",1]]}' }],
    ])("of a record with %s", (_, damage: Record<string, unknown>) => {
      it("H72: nothing is sent: it is reported as corrupt, by few requests", async () => {
        const { recordKey, finish } = await table.begin("claimed");
        await finish();
        await table.nextChanges();
        await alter(recordKey, damage);

        const [change] = await table.nextChanges();

        const corrupt = expect.objectContaining({ code: "RECORD_CORRUPT" });
        // What a change says may be mended by now: it has to be taken.
        const found = table.outbox.readChange(change);
        expect(found).toEqual("delivery" in damage ? undefined : { recordKey, committedAt: 0 });
        counts.reset();
        await expect(table.outbox.load(recordKey)).rejects.toThrow(corrupt);
        expect(counts.requests).toBe(1);
        const taking = { by: "relay", id: "me", now: COMMITTED_AT, until: COMMITTED_AT + 1 } as const;
        await expect(table.outbox.take(recordKey, taking)).rejects.toThrow(corrupt);
      });
    });

    const alter = (recordKey: string, change: Record<string, unknown>) => {
      const names = Object.keys(change);
      const clause = (verb: string, some: string[]) => (some.length > 0 ? `${verb} ${some}` : "");
      const isRemoved = (name: string) => change[name] === undefined;
      const removed = names.filter(isRemoved).map((name) => `#${name}`);
      const set = names.filter((name) => !isRemoved(name)).map((name) => `#${name} = :${name}`);
      const values = Object.fromEntries(names.map((name) => [`:${name}`, change[name]]));
      return client.send(
        new UpdateItemCommand({
          TableName: table.tableName,
          Key: marshall(table.key(recordKey)),
          UpdateExpression: `${clause("SET", set)} ${clause("REMOVE", removed)}`,
          ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
          ...(set.length > 0 && {
            ExpressionAttributeValues: marshall(values, { removeUndefinedValues: true }),
          }),
        }),
      );
    };
  });

  it("a change whose time isn't a number has to be taken", async () => {
    const { outbox } = await newOutboxTable(client, endpoint);
    const NewImage = marshall({
      pk: "op##hash",
      token: "mine",
      version: 1,
      unsentSince: "1",
      messages: "[]",
    });

    const read = () => outbox.readChange({ dynamodb: { NewImage } });

    expect(read()).toEqual({ recordKey: "op##hash", committedAt: 0 });
    NewImage.pk = { N: "1" };
    expect(read).toThrow(expect.objectContaining({ code: "RECORD_CORRUPT" }));
  });

  it.each([[undefined], [null], ["text"], [{}], [{ dynamodb: {} }], [{ dynamodb: { NewImage: {} } }]])(
    "%j isn't a change with anything to send",
    async (change) => {
      const { outbox } = await newOutboxTable(client, endpoint);

      expect(outbox.readChange(change)).toBeUndefined();
    },
  );
});

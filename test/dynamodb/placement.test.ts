import { describe, expect, it } from "vitest";
import { OUTBOX_SHARDS } from "../../lib/contract.ts";
import { OutboxTransactionTooLargeError } from "../../lib/core/errors.ts";
import type { StoredMessage } from "../../lib/core/messages/outgoing-message.ts";
import { placeMessages } from "../../lib/dynamodb/placement.ts";
import { recordTable } from "../../lib/dynamodb/record-table.ts";

const table = recordTable({ tableName: "records" });
const commit = { recordKey: "op##hash", token: "mine", now: 5, expiresAt: 9 };

const place = (...messages: StoredMessage[]) => placeMessages(table, messages, commit);
const shardOf = (...messages: StoredMessage[]) => place(...messages).values.unsentShard;

const toQueue = (name: string): StoredMessage => ({
  queue: "https://q",
  key: name,
  group: `group ${name}`,
  body: name,
});
const toTopic = (name: string): StoredMessage => ({ topic: "arn:t", key: name, body: name });
const toBus = (name: string): StoredMessage => ({
  bus: "b",
  source: "s",
  detailType: "d",
  key: name,
  body: "{}",
});

describe("placeMessages", () => {
  it("adds nothing to a commit without messages", () => {
    expect(place()).toEqual({ values: {}, items: [], bytes: 0, inRecord: 0 });
  });

  it("accepts 1000 messages, and rejects one more", () => {
    const messages = Array.from({ length: 1000 }, (_, index) => toBus(`${index}`));

    expect(place(...messages).items).toHaveLength(1);
    expect(() => place(...messages, toBus("1000"))).toThrow(OutboxTransactionTooLargeError);
  });

  it("keeps the expiry for later: until the messages are sent the record has none", () => {
    expect(place(toQueue("1")).values).toMatchObject({
      unsentSince: 5,
      expiresOnceSent: 9,
      expiresAt: undefined,
    });
    expect(place(toQueue("1")).values).toHaveProperty("expiresAt");
  });

  it.each([
    [
      "FIFO queues, by group",
      (name: string) => ({ ...toQueue(name), queue: "https://q.fifo" }) as StoredMessage,
    ],
    [
      "queues without an order, by key",
      (name: string) => ({ ...toQueue(name), group: "busy" }) as StoredMessage,
    ],
    ["topics, without a group by key", toTopic],
    ["event buses, by key", toBus],
  ])("spreads commits over all shards of the index: %s", (_, to) => {
    const shards = new Set(Array.from({ length: 200 }, (_, index) => shardOf(to(`${index}`))));

    expect([...shards].sort()).toEqual(Array.from({ length: OUTBOX_SHARDS }, (_, shard) => shard));
  });

  it("spreads them over as many shards as configured", () => {
    const shardsOf = (shards: number) =>
      Array.from(
        { length: 400 },
        (_, index) => placeMessages(table, [toBus(`${index}`)], commit, shards).values.unsentShard,
      );

    expect(new Set(shardsOf(1))).toEqual(new Set([0]));
    expect(new Set(shardsOf(32)).size).toBe(32);
  });

  it("keeps small messages in the record, and others next to it, so a refused claim stays within 5 units", () => {
    const record = (bytes: number) => place({ ...toQueue("1"), body: "x".repeat(bytes) } as StoredMessage);

    expect(record(3400).items).toEqual([]);
    expect(record(3600).values).toMatchObject({ messageItems: 1 });
    expect(record(3600).values).not.toHaveProperty("messages");
    const longest = { ...commit, recordKey: "k".repeat(2000) };
    const ofLongest = placeMessages(
      table,
      [{ ...toQueue("1"), body: "x".repeat(3000) } as StoredMessage],
      longest,
    );
    expect(ofLongest.items).toHaveLength(1);
  });

  it("H35: commits that begin with a message of one group share a shard, whatever else they send", () => {
    for (let group = 0; group < 50; group++) {
      const first = { ...toQueue("1"), queue: "https://q.fifo", group: `${group}` } as StoredMessage;
      const another = { ...first, key: "2", body: "other" } as StoredMessage;

      expect(shardOf(another, toTopic("3"), toBus("4"))).toBe(shardOf(first));
    }
  });

  it("holds the messages as JSON, in their order, and counts its bytes", () => {
    const messages = [toQueue("é"), toTopic("2"), toBus("3")];

    const { values, bytes, items } = place(...messages);

    expect(JSON.parse(String(values.messages))).toEqual(messages);
    expect(bytes).toBeGreaterThanOrEqual(Buffer.byteLength(String(values.messages)));
    expect(items).toEqual([]);
  });
});

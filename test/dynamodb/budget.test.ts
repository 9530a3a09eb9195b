// The budget of requests and capacity, counted at the client. Engines report the capacity of requests that
// they accept. The client's counter computes the capacity of a refusal from the item that refused, as AWS documents it.
import { randomBytes, randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { identify } from "../../lib/core/identity.ts";
import type { Unsent } from "../../lib/core/messages/outbox.ts";
import { type RunOnceOptions, runOnce } from "../../lib/core/run-once.ts";
import { DynamoDBOutbox } from "../../lib/dynamodb/dynamodb-outbox.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { countRequests, itemSize } from "../kit/counting-client.ts";
import { loseAnswers } from "../kit/faults/faulty-client.ts";
import { connect, createTable } from "../kit/tables.ts";
import { paymentOf } from "./outbox-given.ts";

const SMALL = { orderId: "order-1", status: "accepted", lines: [{ sku: "a-1", quantity: 2 }] };

/** `bytes` of printable ASCII, of which compression saves an eighth at most. */
function textOfNoise(bytes: number): string {
  return Array.from(randomBytes(bytes), (byte) => String.fromCharCode(35 + (byte % 57))).join("");
}

describe.each(inject("everyDynamodbEngine"))("DynamoDBStore's budget on $name", ({ endpoint }) => {
  const client = connect(endpoint);
  let records: string;
  let orders: string;
  let claimed: RunOnceOptions<DynamoDBWrite>;
  let counts: ReturnType<typeof countRequests>;

  beforeAll(async () => {
    [records, orders] = await Promise.all([createTable(client), createTable(client, "id")]);
    counts = countRequests(client);
    const store = new DynamoDBStore({ tableName: records, client });
    claimed = { operation: "create-order", scope: "tenant-1", store, leaseSeconds: 30 };
  });

  beforeEach(() => counts.reset());

  const orderOf = (id: string): DynamoDBWrite => ({
    Put: { TableName: orders, Item: { id, total: 12 }, ConditionExpression: "attribute_not_exists(id)" },
  });

  const spent = () => [counts.requests, counts.writeUnits, counts.readUnits];

  it("a first run costs 2 requests and 2 write units", async () => {
    await runOnce(claimed, randomUUID(), {}, () => SMALL);

    expect(spent()).toEqual([2, 2, 0]);
  });

  it("a first run that commits an order costs 2 requests and 5 write units", async () => {
    const key = randomUUID();

    await runOnce(claimed, key, {}, (execution) => execution.commit(SMALL, { writes: [orderOf(key)] }));

    expect(spent()).toEqual([2, 5, 0]);
  });

  it("an optimistic run that commits an order costs 1 request and 4 write units, and with a look half a read more", async () => {
    for (const [lookFirst, expected] of [
      [false, [1, 4, 0]],
      [true, [2, 4, 0.5]],
    ] as const) {
      const options = { ...claimed, mode: "optimistic", lookFirst } as const;
      const key = randomUUID();
      counts.reset();

      await runOnce(options, key, {}, (execution) => execution.commit(SMALL, { writes: [orderOf(key)] }));

      expect(spent()).toEqual(expected);
    }
  });

  const commitOrderAndMessage = (options: RunOnceOptions<DynamoDBWrite>, key: string) =>
    runOnce(options, key, {}, ({ commit }) =>
      commit(SMALL, { writes: [orderOf(key)], messages: [paymentOf(key)] }),
    );

  const recordOf = async (key: string) => {
    const { recordKey } = identify("create-order", "tenant-1", key);
    const Key = { pk: { S: recordKey } };
    const { Item = {} } = await client.send(
      new GetItemCommand({ TableName: records, Key, ConsistentRead: true }),
    );
    return { recordKey, bytes: itemSize(Item as Parameters<typeof itemSize>[0]) };
  };

  it("a first run that commits an order and a message costs 2 requests and 5 write units", async () => {
    const key = randomUUID();

    await commitOrderAndMessage(claimed, key);

    // Engines count a transaction as 2 units for each table, which is right while record and order have 1 KB each.
    expect(spent()).toEqual([2, 5, 0]);
    expect((await recordOf(key)).bytes).toBeLessThanOrEqual(1024);
  });

  it("an optimistic run that commits an order and a message costs 1 request and 4 write units", async () => {
    const key = randomUUID();

    await commitOrderAndMessage({ ...claimed, mode: "optimistic", lookFirst: false }, key);

    expect(spent()).toEqual([1, 4, 0]);
    expect((await recordOf(key)).bytes).toBeLessThanOrEqual(1024);
  });

  it("a message without writes adds neither a request nor a write unit, and a replay while it waits costs 1", async () => {
    const key = randomUUID();
    const messages = [
      { queue: "https://sqs.eu-central-1.amazonaws.com/123456789012/payments", key, body: "paid" },
    ];

    await runOnce(claimed, key, {}, (execution) => execution.commit(SMALL, { messages }));
    expect(spent()).toEqual([2, 2, 0]);
    counts.reset();

    await runOnce(claimed, key, {}, () => expect.unreachable());
    expect(spent()).toEqual([1, 1, 0]);
  });

  it("a mark costs 1 request and 1 write unit, and so does a second one", async () => {
    const key = randomUUID();
    await commitOrderAndMessage(claimed, key);
    const outbox = new DynamoDBOutbox({ tableName: records, client });
    const unsent = (await outbox.load((await recordOf(key)).recordKey)) as Unsent;

    for (const _ of ["first", "second"]) {
      counts.reset();
      await outbox.markSent(unsent);
      expect(spent()).toEqual([1, 1, 0]);
    }
  });

  it("a retry after a release, a lost lease or an expiry costs 1 request and 1 write unit more", async () => {
    const time = { now: Date.now() };
    const clock = { now: () => time.now, sleep: () => new Promise<void>(() => {}) };
    const options = { ...claimed, clock, retentionSeconds: 60 };
    const ends = {
      release: async (key: string) => {
        await runOnce(options, key, {}, () => Promise.reject(new Error("again"))).catch(() => {});
      },
      "lost lease": async (key: string) => {
        await new Promise<void>((resolve) => {
          void runOnce(options, key, {}, () => new Promise(() => resolve()));
        });
        time.now += 36_000;
      },
      expiry: async (key: string) => {
        await runOnce(options, key, {}, () => SMALL);
        time.now += 61_000;
      },
    };
    for (const end of Object.values(ends)) {
      const key = randomUUID();
      await end(key);
      counts.reset();

      await runOnce(options, key, {}, () => SMALL);

      expect(counts.commands).toEqual(["PutItem", "UpdateItem", "UpdateItem"]);
      expect(spent()).toEqual([3, 3, 0]);
    }
  });

  it("an optimistic run that records nothing costs 1 consistent read more", async () => {
    const options = { ...claimed, mode: "optimistic", lookFirst: false, shouldStore: () => false } as const;
    counts.reset();

    await runOnce(options, randomUUID(), {}, () => SMALL);

    expect(counts.commands).toEqual(["GetItem"]);
  });

  it("a replay of a small result costs 1 request and 1 write unit", async () => {
    const key = randomUUID();
    await runOnce(claimed, key, {}, () => SMALL);
    counts.reset();

    await runOnce(claimed, key, {}, () => expect.unreachable());

    expect(spent()).toEqual([1, 1, 0]);
  });

  it("with a look a replay costs 1 request and half a read unit, and a first run that much more", async () => {
    const options = { ...claimed, lookFirst: true };
    const key = randomUUID();
    counts.reset();

    await runOnce(options, key, {}, () => SMALL);
    expect(counts.commands).toEqual(["GetItem", "PutItem", "UpdateItem"]);
    expect(spent()).toEqual([3, 2, 0.5]);
    counts.reset();

    expect(await runOnce(options, key, {}, () => expect.unreachable())).toEqual(SMALL);
    expect(spent()).toEqual([1, 0, 0.5]);
  });

  it("a replay of a result that fills the record to the last byte still costs 1 write unit", async () => {
    const texts = ["{}", "x", "é", '"quoted"'].map((seed) => seed + randomBytes(255).toString("base64"));
    for (const text of texts) {
      const key = randomUUID();
      await runOnce(claimed, key, {}, () => text);
      counts.reset();

      expect(await runOnce(claimed, key, {}, () => expect.unreachable())).toBe(text);
      expect(spent()).toEqual([1, 1, 0]);
    }
  });

  it.each([1, 2, 3, 4])(
    "a first run with a result of %i KB costs 2 requests and at most 6 write units, its replay 1 and 5",
    async (kilobytes) => {
      const key = randomUUID();
      // One byte a character, of which compression saves little.
      const result = textOfNoise(kilobytes * 1024 - 2);
      counts.reset();

      await runOnce(claimed, key, {}, () => result);

      expect(spent().slice(0, 1)).toEqual([2]);
      expect(counts.writeUnits).toBeLessThanOrEqual(6);
      counts.reset();
      expect(await runOnce(claimed, key, {}, () => expect.unreachable())).toBe(result);
      expect(counts.commands).toEqual(["PutItem"]);
      expect(counts.writeUnits).toBeLessThanOrEqual(5);
    },
  );

  it("a first run with a result of 1 KB that compresses to half of it costs no more than a small one", async () => {
    const key = randomUUID();
    const result = Array.from({ length: 16 }, (_, id) => ({ id, status: "accepted", currency: "EUR" }));
    counts.reset();

    await runOnce(claimed, key, {}, () => result);
    await runOnce(claimed, key, {}, () => expect.unreachable());

    expect(spent()).toEqual([3, 3, 0]);
  });

  it("a result of 4 KB that is committed with a message adds no request, and a replay costs 1 and 5", async () => {
    const key = randomUUID();
    const result = textOfNoise(3 * 1024);
    const effects = { writes: [orderOf(key)], messages: [paymentOf(key)] };
    counts.reset();

    await runOnce(claimed, key, {}, ({ commit }) => commit(result, effects));

    expect(counts.commands).toEqual(["PutItem", "TransactWriteItems"]);
    counts.reset();
    expect(await runOnce(claimed, key, {}, () => expect.unreachable())).toBe(result);
    expect(counts.commands).toEqual(["PutItem"]);
    expect(counts.writeUnits).toBeLessThanOrEqual(5);
  });

  it("a replay of a result of 40 KB costs 2 requests, 1 write unit and at most 10 read units", async () => {
    const key = randomUUID();
    const result = randomBytes(30 * 1024 - 16).toString("base64");
    await runOnce(claimed, key, {}, () => result);
    counts.reset();

    expect(await runOnce(claimed, key, {}, () => expect.unreachable())).toBe(result);

    expect(counts.commands).toEqual(["PutItem", "GetItem"]);
    expect(spent().slice(0, 2)).toEqual([2, 1]);
    expect(counts.readUnits).toBeGreaterThan(0);
    expect(counts.readUnits).toBeLessThanOrEqual(10);
  });

  it("a concurrent duplicate costs 1 request and 1 write unit", async () => {
    const key = randomUUID();
    const gate = new EventEmitter();
    const first = runOnce(claimed, key, {}, async () => {
      gate.emit("running");
      await once(gate, "open");
      return SMALL;
    });
    await once(gate, "running");
    counts.reset();

    const duplicate = runOnce(claimed, key, {}, () => expect.unreachable());

    await expect(duplicate).rejects.toMatchObject({ code: "EXECUTION_IN_PROGRESS" });
    expect(spent()).toEqual([1, 1, 0]);
    gate.emit("open");
    await first;
  });

  it("a concurrent duplicate that waits 3 seconds costs at most 11 requests, 1 write unit and 10 read units", async () => {
    const key = randomUUID();
    const gate = new EventEmitter();
    const first = runOnce(claimed, key, {}, async () => {
      gate.emit("running");
      await once(gate, "open");
      return SMALL;
    });
    await once(gate, "running");
    counts.reset();
    // The pauses are their shortest, so that the looks are the most.
    let now = Date.now();
    const sleep = async (ms: number) => {
      now += ms;
    };
    const clock = { now: () => now, sleep };
    const random = { token: randomUUID, fraction: () => 0 };

    const duplicate = runOnce(
      { ...claimed, clock, random, whenInProgress: { waitSeconds: 3 } },
      key,
      {},
      () => expect.unreachable(),
    );

    await expect(duplicate).rejects.toMatchObject({ code: "EXECUTION_IN_PROGRESS" });
    expect(counts.requests).toBeLessThanOrEqual(11);
    expect(counts.writeUnits).toBe(1);
    expect(counts.readUnits).toBeGreaterThan(5);
    expect(counts.readUnits).toBeLessThanOrEqual(10);
    gate.emit("open");
    await first;
  });

  it("a lost answer of any write costs 1 request more", async () => {
    for (const lost of ["claim", "completion"]) {
      loseAnswers(client, lost === "claim" ? 1 : 0);
      counts.reset();

      await runOnce(claimed, randomUUID(), {}, () => {
        loseAnswers(client, lost === "completion" ? 1 : 0);
        return SMALL;
      });

      expect(counts.requests).toBe(3);
    }
  });
});

// The connection is lost at each message of a call, over an SDK client without timeouts: the call ends, with one effect.
import { randomUUID } from "node:crypto";
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from "vitest";
import { runOnce } from "../../lib/core/run-once.ts";
import { DynamoDBOutbox } from "../../lib/dynamodb/dynamodb-outbox.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { CUTS, type Cut, type CuttingProxy, startCuttingProxy } from "../kit/faults/cutting-proxy.ts";
import { connect, createOutboxTable } from "../kit/tables.ts";
import { endOf as endOfCall } from "../kit/time/end-of.ts";

/** The time of timeouts passes only while a request gets no answer. */
const endOf = (call: Promise<unknown>, isSilent: () => boolean, advance: () => unknown) =>
  endOfCall(call, (passes) => passes && advance(), isSilent);

describe.each(inject("dynamodbEngines"))("DynamoDBStore on $name", ({ endpoint }) => {
  const admin = connect(endpoint);
  let TableName: string;
  let proxy: CuttingProxy;
  beforeAll(async () => {
    TableName = await createOutboxTable(admin);
    proxy = await startCuttingProxy(Number(new URL(endpoint).port));
    return () => proxy.close();
  });
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  async function buy(nth: number, cut: Cut): Promise<boolean> {
    const client = connect(`http://127.0.0.1:${proxy.port}`, { maxAttempts: 1 });
    const store = new DynamoDBStore({ tableName: TableName, client });
    const clock = fakeClock(Date.now());
    const [key, order] = [randomUUID(), randomUUID()];
    const call = () =>
      runOnce<unknown, never>(
        { operation: "order", store, leaseSeconds: 30, clock },
        key,
        {},
        ({ commit }) => {
          const Update = {
            TableName,
            Key: { pk: order },
            UpdateExpression: "ADD #count :one",
            ExpressionAttributeNames: { "#count": "count" },
            ExpressionAttributeValues: { ":one": 1 },
          };
          return commit("booked", { writes: [{ Update } as never] });
        },
      );
    let isHit = false;
    void proxy.cutAt(nth, cut).then(() => {
      isHit = true;
    });
    const advance = async () => {
      await vi.advanceTimersByTimeAsync(10_000);
      await clock.advance(10_000);
    };

    const first = await endOf(call(), () => isHit, advance);

    const title = `${cut} ${nth}`;
    expect(["booked", "STORE_UNAVAILABLE"], title).toContain(first);
    proxy.heal();
    await clock.advance(60_000);
    expect(await endOf(call(), () => false, advance), title).toBe("booked");
    const { Item } = await admin.send(new GetItemCommand({ TableName, Key: { pk: { S: order } } }));
    expect(Item?.count, title).toEqual({ N: "1" });
    client.destroy();
    return isHit;
  }

  it.each(CUTS)(
    "H80: R2: a call over a client without timeouts ends with a code, and has one effect: %s",
    async (cut) => {
      for (let [nth, isHit] = [1, true]; isHit; nth++) isHit = await buy(nth, cut);
    },
  );

  it("H80: R2: each request of an outbox ends too", async () => {
    const client = connect(`http://127.0.0.1:${proxy.port}`, { maxAttempts: 1 });
    const outbox = new DynamoDBOutbox({ tableName: TableName, client });
    await outbox.count();
    proxy.silenceAll(true);
    const unsent = { recordKey: "a", token: "t", messages: [], committedAt: 1, dueAt: 1, shard: 0 };
    const taking = { by: "relay", id: "a", now: 1, until: 2 } as const;
    const requests: Record<string, () => Promise<unknown>> = {
      load: () => outbox.load("a"),
      take: () => outbox.take("a", taking),
      keep: () => outbox.keep(unsent, [], 1),
      park: () => outbox.park("a", 1),
      leaseSweep: () => outbox.leaseSweep({ id: "a", now: 1, until: 2 }),
      findUnsent: () => outbox.findUnsent(0, 1).next(),
      readNotes: () => outbox.readNotes(),
      count: () => outbox.count(),
    };
    for (const [name, request] of Object.entries(requests)) {
      const end = endOf(
        request(),
        () => true,
        () => vi.advanceTimersByTimeAsync(10_000),
      );
      expect(await end, name).toBe("STORE_UNAVAILABLE");
    }
    proxy.heal();
  });
});

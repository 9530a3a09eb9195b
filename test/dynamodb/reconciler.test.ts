// The reconciler on real engines: what it asks the table for, and what it leaves there.
import { randomUUID } from "node:crypto";
import { ScanCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { fakeClock } from "onceonly/testing";
import { describe, expect, inject, it } from "vitest";
import { identify } from "../../lib/core/identity.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import type { VerifyRecord } from "../../lib/core/verify.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import { reconciler } from "../../lib/reconciler/reconciler.ts";
import type { ReconcilerEvent } from "../../lib/reconciler/reconciler-options.ts";
import { countRequests } from "../kit/counting-client.ts";
import { connect, createOutboxTable, createTable } from "../kit/tables.ts";

const SHARDS = 8;
/** To look, to claim and to release. */
const LEASE = 3;

async function newWorld(endpoint: string) {
  const client = connect(endpoint);
  const counts = countRequests(client);
  const tableName = await createOutboxTable(client);
  const clock = fakeClock(Date.now());
  const store = new DynamoDBStore({ tableName, client });
  const events: ReconcilerEvent[] = [];
  const engine = {
    operation: "charge",
    store,
    clock,
    leaseSeconds: 30,
    renewLease: false,
    whenAbandoned: "hold",
  } as const;

  async function dies(key: string) {
    await new Promise<void>((claimed) => {
      void runOnce(engine, key, {}, () => {
        claimed();
        return new Promise(() => {});
      });
    });
  }

  const handlerOf = (charge: VerifyRecord, more: object = {}) =>
    reconciler({ store, clock, operations: { charge }, observe: (event) => events.push(event), ...more });

  const indexed = async () =>
    (await client.send(new ScanCommand({ TableName: tableName, IndexName: "unsettled" }))).Items?.length;

  return { client, counts, tableName, clock, store, engine, events, dies, handlerOf, indexed };
}

describe.each(inject("dynamodbEngines"))("a reconciler on $name", ({ endpoint }) => {
  it("H6: two concurrent ones settle each of 60 keys once, and leave nothing in the index", async () => {
    const world = await newWorld(endpoint);
    const { clock, engine } = world;
    const keys = Array.from({ length: 60 }, () => randomUUID());
    for (const key of keys) await world.dies(key);
    await clock.advance(100_000);
    const asked: string[] = [];
    const verify: VerifyRecord = ({ childKey }) => {
      const name = childKey("charge");
      asked.push(name);
      return name < "V" ? { outcome: "happened", result: name } : { outcome: "did-not-happen" };
    };
    const handler = world.handlerOf(verify);

    // It knows another operation too, so the two don't take turns.
    const other = world.handlerOf(verify, { operations: { charge: verify, refund: "hold" } });

    const [first, second] = await Promise.all([handler(), other()]);

    expect(asked.toSorted()).toEqual([...new Set(asked)].toSorted());
    expect(asked).toHaveLength(60);
    expect(first.happened + first.didNotHappen + second.happened + second.didNotHappen).toBe(60);
    expect(await world.indexed()).toBe(0);
    const answers = new Set<string>();
    for (const key of keys) {
      answers.add(await runOnce(engine, key, {}, ({ attempt }) => `attempt ${attempt}`));
    }
    expect(answers.has("attempt 3")).toBe(true);
    expect(answers.size).toBe(first.happened + second.happened + 1);
  });

  it("H6: next to callers that take over at the same moment, one of both decides about each key", async () => {
    const world = await newWorld(endpoint);
    const keys = Array.from({ length: 12 }, () => randomUUID());
    for (const key of keys) await world.dies(key);
    await world.clock.advance(100_000);
    const ran: string[] = [];
    const verify: VerifyRecord = () => ({ outcome: "happened", result: "verified" });

    const callers = keys.map((key) =>
      runOnce({ ...world.engine, whenAbandoned: "run" }, key, {}, () => {
        ran.push(key);
        return "caller";
      }).catch(({ code }) => code),
    );
    const [report, answers] = await Promise.all([world.handlerOf(verify)(), Promise.all(callers)]);

    expect(report.happened + ran.length).toBe(keys.length);
    expect(answers.filter((answer) => answer === "caller")).toHaveLength(ran.length);
    for (const key of keys) {
      const answer = await runOnce(world.engine, key, {}, () => "again");
      expect(answer).toBe(ran.includes(key) ? "caller" : "verified");
    }
  });

  it("keeps a large result in a separate item, and replays it", async () => {
    const world = await newWorld(endpoint);
    await world.dies("order-1");
    await world.clock.advance(100_000);
    const result = { ids: Array.from({ length: 2000 }, () => randomUUID()) };

    await world.handlerOf(() => ({ outcome: "happened", result }))();

    expect(await runOnce<unknown>(world.engine, "order-1", {}, () => "again")).toEqual(result);
  });

  it("H6: comes to every shard before it is through with any, and asks about all before it asks twice", async () => {
    const world = await newWorld(endpoint);
    const { clock, client, tableName } = world;
    const keys = Array.from({ length: 60 }, () => randomUUID());
    for (const key of keys) await world.dies(key);
    const crowded = keys.map((key) => identify("charge", "", key).recordKey);
    // All are in the first shard, but for the last one.
    for (const [index, recordKey] of crowded.entries()) {
      await client.send(
        new UpdateItemCommand({
          TableName: tableName,
          Key: { pk: { S: recordKey } },
          UpdateExpression: "SET unsettledShard = :shard",
          ExpressionAttributeValues: { ":shard": { N: index === 59 ? "7" : "0" } },
        }),
      );
    }
    await clock.advance(100_000);
    const asked: string[] = [];
    const handler = world.handlerOf(({ childKey }) => {
      asked.push(childKey("charge"));
      return { outcome: "unknown" };
    });
    // Each invocation has time for 4 questions after another, and asks 4 at once.
    const run = () => {
      const until = asked.length + 13;
      return handler({}, { getRemainingTimeInMillis: () => (asked.length >= until ? 0 : 34_000) });
    };

    const seen: string[] = [];
    const before = clock.now() - 60_000;
    for await (const { recordKey } of world.store.unknownOutcomes({ before })) seen.push(recordKey);
    expect(seen.toSorted()).toEqual(crowded.toSorted());
    expect(seen.indexOf(crowded[59] as string)).toBe(25);

    for (let runs = 0; runs < 9 && asked.length < 60; runs++) await run();

    expect(new Set(asked.slice(0, 60)).size).toBe(60);
  });

  it("names the missing index", async () => {
    const client = connect(endpoint);
    const store = new DynamoDBStore({ tableName: await createTable(client), client });

    await expect(reconciler({ store, operations: { charge: "hold" } })()).rejects.toThrow(
      "the index unsettled",
    );
  });
});

describe.each(inject("everyDynamodbEngine"))("the requests of a reconciler on $name", ({ endpoint }) => {
  it("makes one query for each shard if nothing is to be done, three requests for its lease, and four more for each key", async () => {
    const world = await newWorld(endpoint);
    const { counts } = world;
    const handler = world.handlerOf(() => ({ outcome: "unknown" }));
    counts.reset();

    await handler();
    expect(counts.requests).toBe(SHARDS + LEASE);

    await world.dies("order-1");
    await world.clock.advance(100_000);
    counts.reset();
    await handler();
    expect(counts.requests).toBe(SHARDS + LEASE + 4);

    await world.clock.advance(60_001);
    counts.reset();
    await handler();
    // The pause is not over: the record is read, and left alone.
    expect(counts.requests).toBe(SHARDS + LEASE + 1);
  });
});

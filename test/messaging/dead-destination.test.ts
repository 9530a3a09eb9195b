// What a retry of a FIFO queue costs while it accepts nothing, with few waiting commits and with many, and what it costs to send
// them once it works again. ONCEONLY_WAITING=5000 measures with that many.
import { createHash } from "node:crypto";
import { BatchWriteItemCommand, DeleteItemCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import { runOnce } from "onceonly";
import { DynamoDBOutbox, DynamoDBStore } from "onceonly/dynamodb";
import { type OutboxBacklogEvent, outboxSweeper } from "onceonly/messaging";
import { fakeClock, fakeRandom } from "onceonly/testing";
import { describe, expect, inject, it } from "vitest";
import { countRequests } from "../kit/counting-client.ts";
import { connect, createOutboxTable } from "../kit/tables.ts";
import { timeless } from "../kit/time/timeless.ts";

const URL = "https://sqs.eu-central-1.amazonaws.com/123456789012/";
const SIZES = [20, Number(process.env.ONCEONLY_WAITING ?? 60)] as const;
const MINUTE = 60_000;
const SHARDS = 8;

/** DynamoDB Local counts a write to the index as DynamoDB does. */
const { endpoint } = inject("dynamodbEngines")[0]!;

/** A table with commits that wait for a queue, and a sweeper. */
async function newBacklog(queue: string, count: number, groupOf: (number: number) => string) {
  const client = connect(endpoint);
  const tableName = await createOutboxTable(client);
  const clock = fakeClock();
  const state = { accepts: (_body: string) => false as boolean, sends: 0 };
  const sent: string[] = [];
  const backlogs: OutboxBacklogEvent[] = [];
  const sqs = {
    config: {},
    async send({ input }: { input: { Entries: { Id: string; MessageBody: string }[] } }) {
      state.sends++;
      if (!input.Entries.every(({ MessageBody }) => state.accepts(MessageBody)))
        throw Object.assign(new Error("gone"), { name: "QueueDoesNotExist" });
      sent.push(...input.Entries.map(({ MessageBody }) => MessageBody));
      return { Successful: input.Entries.map(({ Id }) => ({ Id, MessageId: Id })) };
    },
  };
  const store = new DynamoDBStore({ tableName, client });
  const options = { operation: "order", store, leaseSeconds: 30, clock };
  const bodies = Array.from({ length: count }, (_, number) => `${groupOf(number)}${number}`);
  const message = { queue: `${URL}${queue}`, key: "the first", group: groupOf(0), body: "the first" };
  await runOnce(options, "the first", {}, ({ commit }) => commit(null, { messages: [message] }));
  // Copies of a real commit, because 25 of them are one request.
  const { Items: [first] = [] } = await client.send(new ScanCommand({ TableName: tableName }));
  const isOneLine = queue.endsWith(".fifo") && groupOf(0) === groupOf(1);
  const since = clock.now();
  const copies = bodies.map((body, number) => {
    const at = { N: `${since + number}` };
    return {
      ...first,
      pk: { S: `order##${createHash("sha256").update(body).digest("base64url")}` },
      messages: { S: JSON.stringify([{ ...message, key: body, group: groupOf(number), body }]) },
      unsentShard: isOneLine ? first!.unsentShard! : { N: `${number % SHARDS}` },
      unsentSince: at,
      completedAt: at,
    };
  });
  await client.send(new DeleteItemCommand({ TableName: tableName, Key: { pk: first!.pk! } }));
  for (let start = 0; start < count; start += 25) {
    const requests = copies.slice(start, start + 25).map((Item) => ({ PutRequest: { Item } }));
    await client.send(new BatchWriteItemCommand({ RequestItems: { [tableName]: requests } }));
  }
  await clock.advance(count);
  const outbox = new DynamoDBOutbox({ tableName, client });
  const sweep = outboxSweeper({
    outbox,
    destinations: "any",
    sqs,
    clock: timeless(clock),
    // None of the commits that needn't be taken.
    random: { ...fakeRandom("dead"), fraction: () => 0.5 },
    observe: (event) => event.event === "backlog" && backlogs.push(event),
  });
  const cost = countRequests(client);
  return {
    outbox,
    state,
    sent,
    bodies,
    backlogs,
    /** One sweep after that much time, and its cost. */
    async sweep(ms = 15 * MINUTE) {
      await clock.advance(ms);
      cost.reset();
      state.sends = 0;
      const report = await sweep();
      const { requests, writeUnits, readUnits } = cost;
      return { report, sends: state.sends, requests, writeUnits, readUnits };
    },
  };
}

describe("a FIFO queue that accepts nothing", () => {
  it.each([
    ["all commits in one group", () => "a"],
    ["each commit in its own group", (number: number) => `g${number}-`],
  ])("R5: %s: a retry costs the same with few waiting commits and with many", async (_, groupOf) => {
    const retries = [];
    for (const size of SIZES) {
      const world = await newBacklog("dead.fifo", size, groupOf);
      // The first sweep fails, and gives each commit its place.
      const first = await world.sweep();
      await world.sweep();
      const retry = await world.sweep();
      expect(retry.sends).toBeGreaterThan(0);
      expect(world.backlogs.at(-1)).toMatchObject({ waiting: size, parked: 0 });
      expect(world.backlogs.at(-1)?.oldestMs).toBeGreaterThanOrEqual(45 * MINUTE);
      retries.push(retry);
      if (process.env.ONCEONLY_WAITING) console.info(size, { first, retry });

      world.state.accepts = () => true;
      const recovery = await world.sweep();
      if (process.env.ONCEONLY_WAITING) console.info(size, { recovery });
      const rest = await world.sweep();
      expect([recovery.report.sent + rest.report.sent, world.sent.length]).toEqual([size, size]);
      if (groupOf(0) === groupOf(1)) expect(world.sent).toEqual(world.bodies);
    }
    // One commit of each shard is tried. Finding and counting those that wait costs a read unit for about 45 of them.
    for (const { writeUnits, readUnits } of retries) {
      expect(writeUnits).toBeLessThanOrEqual(5 + 2 * SHARDS);
      expect(writeUnits + readUnits).toBeLessThanOrEqual(200);
    }
    // A page of the index has 1,000 commits, and the notes are read after each.
    expect(retries[1]!.requests).toBeLessThanOrEqual(retries[0]!.requests + SHARDS + SIZES[1] / 400);
  });
});

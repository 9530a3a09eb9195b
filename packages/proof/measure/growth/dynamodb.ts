// Growth on DynamoDB: requests and units of calls, batches, steps and waiting commits.
import { randomUUID } from "node:crypto";
import { BatchWriteItemCommand, type DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { SQSClient } from "@aws-sdk/client-sqs";
import type { SQSEvent, SQSRecord } from "aws-lambda";
import { idempotentBatch, type RunOnceOptions, runOnce } from "onceonly";
import { DynamoDBOutbox, DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import { outboxSweeper } from "onceonly/messaging";
import { fakeClock, fakeLambdaContext } from "onceonly/testing";
import { createOutboxTable, createTable } from "../../../../test/kit/tables.ts";
import { timeless } from "../../../../test/kit/time/timeless.ts";
import { byEffort, type Effort } from "../effort.ts";
import type { Tally } from "../metering/meter.ts";
import { type MeteredClient, meteredClient } from "../metering/metered-client.ts";
import { type AtSize, type Growth, growthOf, textOf } from "./series.ts";

const CALLS = 20;
const KB = 1024;

export async function dynamodbGrowth(endpoint: string, effort: Effort): Promise<readonly Growth[]> {
  const metered = await meteredClient(endpoint);
  const most = (quick: number, short: number, full: number) => byEffort(effort, { quick, short, full });
  try {
    return [
      await growthOf(
        "KB of payload",
        [1, 32, 300, 1_024, 5_120],
        5_120,
        callsWithPayload(metered, await createTable(metered.client)),
      ),
      await growthOf(
        "messages in a batch",
        [10, 100, 1_000, 10_000],
        most(100, 1_000, 10_000),
        batches(metered, await createTable(metered.client)),
      ),
      await growthOf("steps of an operation, 3 KB each", [1, 10, 30, 100], 100, (count) =>
        steps(metered, count),
      ),
      await growthOf(
        "commits that wait for one destination",
        // The engine's own time per request grows with the commits of one line: ten times as many would take hours.
        [100, 300, 1_000, 3_000],
        most(100, 1_000, 3_000),
        (count) => waitingCommits(metered, count),
      ),
      // Last, because DynamoDB Local is slower with a million items.
      await growthOf(
        "keys in the table",
        [1_000, 10_000, 100_000, 1_000_000],
        most(1_000, 10_000, 1_000_000),
        await callsAmongKeys(metered),
      ),
    ];
  } finally {
    metered.client.destroy();
  }
}

const perUnit = (what: string, { requests, writeUnits, readUnits }: Tally, count: number) => ({
  [`requests per ${what}`]: requests / count,
  [`units per ${what}`]: (writeUnits + readUnits) / count,
});

/** A lease in place of an invocation. */
const optionsOf = (client: DynamoDBClient, tableName: string): RunOnceOptions<DynamoDBWrite> => ({
  operation: "grow",
  scope: "public",
  store: new DynamoDBStore({ tableName, client }),
  leaseSeconds: 60,
});

type Call = (key: string) => Promise<unknown>;

async function spentOn({ during }: MeteredClient, keys: readonly string[], call: Call): Promise<Tally> {
  return during(async () => {
    for (const key of keys) await call(key);
  });
}

const newKeys = (count: number) => Array.from({ length: count }, () => randomUUID());

/** The table keeps its records from one size to the next. */
async function callsAmongKeys(metered: MeteredClient): Promise<AtSize> {
  const tableName = await createTable(metered.client);
  const options = optionsOf(metered.client, tableName);
  let there = 0;
  return async (size) => {
    await copyRecords(metered.client, tableName, options, there, size);
    there = size;
    const keys = newKeys(CALLS);
    const call: Call = (key) => runOnce(options, key, { item: "book" }, async () => ({ order: "1" }));
    return {
      ...perUnit("first run", await spentOn(metered, keys, call), CALLS),
      ...perUnit("replay", await spentOn(metered, keys, call), CALLS),
    };
  };
}

/** Fills the table with copies of one finished record, under other keys. */
async function copyRecords(
  client: DynamoDBClient,
  tableName: string,
  options: RunOnceOptions<DynamoDBWrite>,
  from: number,
  to: number,
): Promise<void> {
  let recordKey = "";
  const { store } = options;
  const watched = new Proxy(store, {
    get(target, name) {
      const member = Reflect.get(target, name, target);
      if (name !== "claim") return typeof member === "function" ? member.bind(target) : member;
      return (...given: Parameters<typeof store.claim>) => {
        recordKey = given[0].recordKey;
        return target.claim(...given);
      };
    },
  });
  await runOnce({ ...options, store: watched }, `template-${from}`, {}, async () => ({ order: "1" }));
  const { Item } = await client.send(
    new GetItemCommand({ TableName: tableName, Key: { pk: { S: recordKey } } }),
  );
  if (!Item) throw new Error("the record to copy isn't in the table");
  for (let at = from; at < to; at += 25) {
    const copies = Array.from({ length: Math.min(25, to - at) }, (_, index) => ({
      PutRequest: { Item: { ...Item, pk: { S: `${recordKey}${at + index}` } } },
    }));
    await client.send(new BatchWriteItemCommand({ RequestItems: { [tableName]: copies } }));
  }
}

function callsWithPayload(metered: MeteredClient, tableName: string): AtSize {
  const options = optionsOf(metered.client, tableName);
  return async (kilobytes) => {
    const payload = {
      lines: Array.from({ length: kilobytes }, (_, index) => ({ index, text: "x".repeat(KB) })),
    };
    const keys = newKeys(3);
    const call: Call = (key) => runOnce(options, key, payload, async () => ({ order: "1" }));
    return {
      ...perUnit("first run", await spentOn(metered, keys, call), keys.length),
      ...perUnit("replay", await spentOn(metered, keys, call), keys.length),
    };
  };
}

function batches(metered: MeteredClient, tableName: string): AtSize {
  const handler = idempotentBatch(async () => "done", {
    operation: "grow-batch",
    store: new DynamoDBStore({ tableName, client: metered.client }),
    key: (message) => (message as SQSRecord).body,
  });
  return async (count) => {
    const messages = newKeys(count).map((body) => ({
      messageId: randomUUID(),
      body,
      attributes: {},
      messageAttributes: {},
      eventSource: "aws:sqs",
      eventSourceARN: "arn:aws:sqs:eu-central-1:123456789012:grow",
    }));
    const event = { Records: messages } as unknown as SQSEvent;
    const context = fakeLambdaContext({ clock: { now: () => performance.now() }, remainingMs: 900_000 });
    const spent = await metered.during(() => handler(event, context));
    return perUnit("message", spent, count);
  };
}

async function steps(metered: MeteredClient, count: number) {
  const options = optionsOf(metered.client, await createTable(metered.client));
  const spent = await metered.during(() =>
    runOnce(options, randomUUID(), {}, async ({ step }) => {
      for (let index = 0; index < count; index++) await step(`step-${index}`, () => textOf(3 * KB));
    }),
  );
  return perUnit("step", spent, count);
}

/** The messages are in one order, so they wait for each other. */
async function waitingCommits(metered: MeteredClient, count: number) {
  const { client } = metered;
  const tableName = await createOutboxTable(client);
  const clock = fakeClock(Date.now());
  const options = { ...optionsOf(client, tableName), clock: timeless(clock) };
  const store = new DynamoDBStore({ tableName, client, outbox: true });
  const queue = "https://sqs.eu-central-1.amazonaws.com/123456789012/grow.fifo";
  const commitOne = (key: string) => {
    const messages = [{ queue, key, group: "one", body: "sent" }];
    return runOnce({ ...options, store }, key, {}, ({ commit }) => commit("done", { messages }));
  };
  for (let written = 0; written < count; written += CALLS)
    await Promise.all(newKeys(Math.min(CALLS, count - written)).map(commitOne));
  const sweep = (isDead: boolean) =>
    outboxSweeper({
      outbox: new DynamoDBOutbox({ tableName, client }),
      destinations: "any",
      sqs: queueOf(isDead),
      minAgeSeconds: 0,
      clock: timeless(clock),
      observe() {},
    });
  await clock.advance(60_000);
  const dead = await metered.during(() => sweep(true)());
  await clock.advance(600_000);
  const again = await metered.during(() => sweep(true)());
  let sent = 0;
  await clock.advance(600_000);
  const send = sweep(false);
  const sending = await metered.during(async () => {
    for (let runs = 0; sent < count && runs < count; runs++) {
      sent += (await send()).sent;
      await clock.advance(600_000);
    }
  });
  if (sent < count) throw new Error(`${sent} of ${count} waiting commits were sent`);
  return {
    ...perUnit("commit, the first time its destination is dead", dead, count),
    "units per retry of a dead destination": again.writeUnits + again.readUnits,
    ...perUnit("commit that is sent", sending, count),
  };
}

/** A client whose requests end before the network. */
function queueOf(isDead: boolean): SQSClient {
  const client = new SQSClient({ region: "eu-central-1" });
  client.middlewareStack.add(
    () =>
      async ({ input }) => {
        if (isDead) throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
        const { Entries = [] } = input as { Entries?: readonly { Id: string }[] };
        const Successful = Entries.map(({ Id }) => ({ Id, MessageId: randomUUID() }));
        return { response: {}, output: { Successful, Failed: [], $metadata: {} } } as never;
      },
    { step: "initialize", priority: "high" },
  );
  return client;
}

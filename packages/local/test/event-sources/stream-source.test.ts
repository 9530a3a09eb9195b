// The stream of a table that has a past, on every engine that can be run here.
import {
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  PutItemCommand,
} from "@aws-sdk/client-dynamodb";
import { afterEach, describe, expect, inject, it } from "vitest";
import { systemClock } from "../../../../lib/core/clock.ts";
import type { GivenUpBatch } from "../../../explorer/lib/aws/event-sources/stream-batch.ts";
import { startStreamSource } from "../../lib/event-sources/stream-source.ts";
import { answered, crashed } from "../../lib/lambda/invoke-result.ts";
import { until } from "../stack/world.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

let tables = 0;

describe.each(inject("dynamodbEngines"))("startStreamSource on $name", ({ endpoint }) => {
  async function tableWithStream() {
    const client = new DynamoDBClient({
      endpoint,
      region: "us-east-1",
      credentials: { accessKeyId: "local", secretAccessKey: "local" },
    });
    cleanups.push(() => client.destroy());
    const TableName = `stream-source-${process.pid}-${tables++}`;
    const { TableDescription } = await client.send(
      new CreateTableCommand({
        TableName,
        KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
        AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
        BillingMode: "PAY_PER_REQUEST",
        StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_IMAGE" },
      }),
    );
    cleanups.push(() => client.send(new DeleteTableCommand({ TableName })));
    const put = (pk: string) => client.send(new PutItemCommand({ TableName, Item: { pk: { S: pk } } }));
    return { streamArn: String(TableDescription?.LatestStreamArn), put };
  }

  async function start(streamArn: string, more: object) {
    const seen: string[] = [];
    const givenUp: GivenUpBatch[] = [];
    const source = await startStreamSource({
      endpoint,
      streamArn,
      clock: systemClock,
      log: () => undefined,
      label: "table → function",
      region: "eu-west-1",
      invoke: async (payload) => {
        const { Records } = JSON.parse(payload);
        for (const { dynamodb } of Records) seen.push(dynamodb.Keys.pk.S);
        return seen.includes("bad") ? crashed("id", "it is bad") : answered("id", "null");
      },
      enabled: true,
      startingPosition: "TRIM_HORIZON",
      batchSize: 10,
      batchingWindowSeconds: 0,
      passes: () => true,
      maxRetryAttempts: -1,
      maxRecordAgeSeconds: -1,
      bisects: false,
      reportsItemFailures: false,
      onFailure: async (batch) => void givenUp.push(batch),
      ...more,
    });
    cleanups.push(() => source.disable());
    return { seen, givenUp };
  }

  it("begins with the oldest record, or with records written from now on", async () => {
    const { streamArn, put } = await tableWithStream();
    await put("a");
    const oldest = await start(streamArn, {});
    const latest = await start(streamArn, { startingPosition: "LATEST" });

    await put("b");
    await put("c");
    await until(() => oldest.seen.includes("c") && latest.seen.includes("c"));

    expect(oldest.seen).toEqual(["a", "b", "c"]);
    expect(latest.seen).toEqual(["b", "c"]);
  });

  it("gives up records that are older than they may be, at their first failure", async () => {
    const { streamArn, put } = await tableWithStream();
    await put("bad");
    const clock = { ...systemClock, now: () => Date.now() + 3_600_000 };

    const { seen, givenUp } = await start(streamArn, { maxRecordAgeSeconds: 600, clock });
    await until(() => givenUp.length > 0);

    expect(seen).toEqual(["bad"]);
    expect(givenUp).toMatchObject([{ condition: "RecordAgeExceeded", invokeCount: 1 }]);
  });

  it("fills a batch up while its window lasts", async () => {
    const { streamArn, put } = await tableWithStream();
    await put("a");
    const sizes: number[] = [];
    let sleeps = 0;
    await start(streamArn, {
      batchSize: 2,
      batchingWindowSeconds: 60,
      clock: {
        ...systemClock,
        sleep: (ms: number, signal?: AbortSignal) => {
          sleeps++;
          return systemClock.sleep(ms, signal);
        },
      },
      invoke: async (payload: string) => {
        sizes.push(JSON.parse(payload).Records.length);
        return answered("id", "null");
      },
    });

    await until(() => sleeps > 0 || sizes.length > 0);
    await put("b");
    await until(() => sizes.length > 0);

    expect(sizes).toEqual([2]);
  });
});

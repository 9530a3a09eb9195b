// A foreign app on a single table with names and a key of its own, in the local runner with duplicates. Records, messages and
// business items lie beside each other.
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { ReceiveMessageCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { type RunningStack, startStack } from "../../lib/index.ts";
import { until } from "./world.ts";

const folder = fileURLToPath(new URL("../../../../test/fixtures/freight-desk", import.meta.url));
const local = { region: "eu-west-1", credentials: { accessKeyId: "local", secretAccessKey: "local" } };

let stack: RunningStack;
let dynamodb: DynamoDBClient;
let sqs: SQSClient;
beforeAll(async () => {
  const [engine] = inject("dynamodbEngines");
  stack = await startStack({ folder, dynamodbEndpoint: engine?.endpoint });
  dynamodb = new DynamoDBClient({ ...local, endpoint: stack.endpoints.dynamodb });
  sqs = new SQSClient({ ...local, endpoint: stack.endpoints.sqs });
});
afterAll(async () => {
  dynamodb?.destroy();
  sqs?.destroy();
  await stack?.stop();
});

async function book(freight: string, key: string): Promise<{ status: number; replayed: boolean }> {
  const response = await fetch(`${stack.url}/freight`, {
    method: "POST",
    headers: { "idempotency-key": key },
    body: JSON.stringify({ freight }),
  });
  await response.text();
  return { status: response.status, replayed: response.headers.has("idempotent-replayed") };
}

/** Every item of the table. */
async function items(): Promise<Record<string, unknown>[]> {
  const TableName = stack.tables.Freight?.name;
  const { Items = [] } = await dynamodb.send(new ScanCommand({ TableName, ConsistentRead: true }));
  return Items.map((item) => unmarshall(item));
}

/** What was done to a freight, and how often. */
async function doneTo(freight: string): Promise<Record<string, unknown>> {
  const item = (await items()).find(({ PK }) => PK === `FREIGHT#${freight}`) ?? {};
  const { PK: _, SK: __, ...done } = item;
  return done;
}

describe("a foreign app on a single table", () => {
  it("runs whole", () => {
    expect(stack.notRun).toEqual([]);
    expect(Object.keys(stack.tables)).toEqual(["Freight"]);
  });

  it("books once, sends each commit's message once, and loads a repeated message once", async () => {
    const QueueUrl = stack.queues.Loads?.url;
    const [, consumer] = Object.entries(stack.eventSources).find(([path]) => path.startsWith("Load/"))!;
    await consumer.disable();
    const key = randomUUID();

    const answers = [await book("A", key), await book("A", key), await book("A", key)];
    const { Body, MessageAttributes } = await until(async () => {
      const asked = { QueueUrl, MessageAttributeNames: ["All"], VisibilityTimeout: 0 };
      const { Messages = [] } = await sqs.send(new ReceiveMessageCommand(asked));
      return Messages[0];
    });
    const copy = { QueueUrl, MessageBody: Body, MessageAttributes, MessageGroupId: "A" };
    await sqs.send(new SendMessageCommand({ ...copy, MessageDeduplicationId: "copy" }));
    const last = { ...copy, MessageBody: JSON.stringify({ freight: "B" }), MessageAttributes: {} };
    await sqs.send(new SendMessageCommand({ ...last, MessageDeduplicationId: "last" }));
    consumer.enable();

    // The group is in order: what came before it is done.
    await until(async () => (await doneTo("B")).loaded);
    expect(await doneTo("A")).toEqual({ booked: 1, loaded: 1 });
    expect(answers).toEqual([
      { status: 201, replayed: false },
      { status: 201, replayed: true },
      { status: 201, replayed: true },
    ]);
  });

  it("keeps records and business items apart by the sort key, and names every item as the table does", async () => {
    const all = await items();
    const records = all.filter(({ SK }) => SK === "record");

    expect(all.filter(({ SK }) => SK === "freight")).toHaveLength(2);
    expect(records).toHaveLength(3);
    expect(records.every(({ ttl }) => typeof ttl === "number")).toBe(true);
    expect(all).toHaveLength(5);
  });
});

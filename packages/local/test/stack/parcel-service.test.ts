// A foreign app in the local runner, with duplicates everywhere. It has a REST API over a plain Table, and a topic and a bus
// with two consumers each.
import { fileURLToPath } from "node:url";
import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { PublishCommand, SNSClient } from "@aws-sdk/client-sns";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { type RunningStack, startStack } from "../../lib/index.ts";
import { until } from "./world.ts";

const folder = fileURLToPath(new URL("../../../../test/fixtures/parcel-service", import.meta.url));
const local = { region: "us-east-1", credentials: { accessKeyId: "local", secretAccessKey: "local" } };

const lines: string[] = [];
let stack: RunningStack;
let clients: { dynamodb: DynamoDBClient; sns: SNSClient; sqs: SQSClient; eventBridge: EventBridgeClient };
beforeAll(async () => {
  const [engine] = inject("dynamodbEngines");
  stack = await startStack({ folder, dynamodbEndpoint: engine?.endpoint, log: (line) => lines.push(line) });
  const { dynamodb, sqs, aws } = stack.endpoints;
  clients = {
    dynamodb: new DynamoDBClient({ ...local, endpoint: dynamodb }),
    sns: new SNSClient({ ...local, endpoint: aws }),
    sqs: new SQSClient({ ...local, endpoint: sqs }),
    eventBridge: new EventBridgeClient({ ...local, endpoint: aws }),
  };
});
afterAll(async () => {
  for (const client of Object.values(clients ?? {})) client.destroy();
  await stack?.stop();
});

/** What was done to a parcel, and how often. */
async function doneTo(parcel: string): Promise<Record<string, unknown>> {
  const { Item = {} } = await clients.dynamodb.send(
    new GetItemCommand({
      TableName: stack.tables["Desk/Parcels"]?.name,
      Key: { parcel: { S: parcel } },
      ConsistentRead: true,
    }),
  );
  const { parcel: _, ...done } = unmarshall(Item);
  return done;
}

/** Resolves when so many of the deliveries are done: one that meets another at work would come again in a minute. */
async function settled(parcel: string, from: string, deliveries: number): Promise<void> {
  const labelled = (line: string) => line.startsWith(`Sorting/${from} → Sorting/Label: ok`);
  await until(() => lines.filter(labelled).length === deliveries);
  await until(async () => (await doneTo(parcel)).weighed);
  await until(async () => (await backlog()) === 0);
}

describe("a foreign app with a REST API and a fan-out", () => {
  it("runs whole, with references between its stacks", () => {
    expect(stack.notRun).toEqual([]);
    expect(Object.keys(stack.topics)).toEqual(["Sorting/Accepted"]);
  });

  it("accepts a key's requests once, and rejects with its gateway's customized response", async () => {
    const accept = (authorization: string) =>
      fetch(`${stack.url}/parcels`, {
        method: "POST",
        headers: { authorization, "Idempotency-Key": "key-1" },
        body: JSON.stringify({ parcel: "A" }),
      });

    const first = await accept("desk");
    const second = await accept("desk");
    const denied = await accept("someone");
    const unknown = await accept("nobody");

    expect([first.status, second.status, denied.status, unknown.status]).toEqual([201, 201, 403, 401]);
    expect(await first.json()).toEqual({ accepted: 1 });
    expect(await second.json()).toEqual({ accepted: 1 });
    expect(second.headers.has("idempotent-replayed")).toBe(true);
    expect(denied.headers.get("x-refused-by")).toBe("the gateway");
    expect(await doneTo("A")).toEqual({ accepted: 1 });
  });

  it("labels and weighs a message published twice once, with a copy in the queue and one from the Invoke API", async () => {
    const Message = JSON.stringify({ parcel: "B" });
    const publication = new PublishCommand({
      TopicArn: stack.topics["Sorting/Accepted"]?.arn,
      Message,
      MessageAttributes: { kind: { DataType: "String", StringValue: "parcel" } },
    });
    await clients.sns.send(publication);
    await settled("B", "Accepted", 1);
    await clients.sns.send(publication);
    await settled("B", "Accepted", 2);
    const QueueUrl = stack.queues["Sorting/ToWeigh"]?.url;
    await clients.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: Message }));
    const path = `/2015-03-31/functions/${stack.functions["Sorting/Label"]?.name}/invocations`;
    const event = JSON.stringify({ Records: [{ Sns: { Message } }] });
    const again = await fetch(stack.endpoints.aws + path, { method: "POST", body: event });

    expect(await again.json()).toEqual({ labelled: 1 });
    await until(async () => (await backlog()) === 0);
    expect(await doneTo("B")).toEqual({ labelled: 1, weighed: 1 });
  });

  it("labels and does not weigh a message that the filter policy keeps from the queue", async () => {
    await clients.sns.send(
      new PublishCommand({
        TopicArn: stack.topics["Sorting/Accepted"]?.arn,
        Message: JSON.stringify({ parcel: "C" }),
        MessageAttributes: { kind: { DataType: "String", StringValue: "letter" } },
      }),
    );

    await until(async () => (await doneTo("C")).labelled);
    expect(await backlog()).toBe(0);
    expect(await doneTo("C")).toEqual({ labelled: 1 });
  });

  it("handles two events of the bus once each", async () => {
    const EventBusName = String(stack.outputs["Sorting/BusName"]);
    const Detail = JSON.stringify({ parcel: "D" });
    const entry = { EventBusName, Source: "desk", DetailType: "Returned", Detail };
    await clients.eventBridge.send(new PutEventsCommand({ Entries: [entry] }));
    await settled("D", "Returned", 1);
    await clients.eventBridge.send(new PutEventsCommand({ Entries: [entry] }));
    await settled("D", "Returned", 2);

    expect(await doneTo("D")).toEqual({ labelled: 1, weighed: 1 });
  });
});

/** Messages that wait or are in flight. */
async function backlog(): Promise<number> {
  const response = await fetch(stack.endpoints.sqs, {
    method: "POST",
    headers: { "x-amz-target": "AmazonSQS.GetQueueAttributes", "content-type": "application/x-amz-json-1.0" },
    body: JSON.stringify({ QueueUrl: stack.queues["Sorting/ToWeigh"]?.url, AttributeNames: ["All"] }),
  });
  const { Attributes } = (await response.json()) as { Attributes: Record<string, string> };
  return (
    Number(Attributes.ApproximateNumberOfMessages) + Number(Attributes.ApproximateNumberOfMessagesNotVisible)
  );
}

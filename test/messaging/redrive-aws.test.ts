// A redrive on AWS itself, since no emulator is the last word on it. Skipped by default: it needs an account, creates two
// queues and a table in it, takes minutes and costs some cents. To run it, give credentials, a region and
// ONCEONLY_AWS_TESTS=1.
import { randomUUID } from "node:crypto";
import {
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
  StartMessageMoveTaskCommand,
} from "@aws-sdk/client-sqs";
import type { Context, SQSRecord } from "aws-lambda";
import { type DecisionEvent, idempotentBatch } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { FifoProducer } from "onceonly/messaging";
import { fakeLambdaContext } from "onceonly/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sqsRecord } from "../../packages/explorer/lib/aws/event-sources/sqs-record.ts";
import type { ReceivedMessage } from "../../packages/explorer/lib/aws/sqs/operations.ts";
import { answered } from "../lambda/batch/given.ts";

const MAX_RECEIVES = 2;
const VISIBILITY_SECONDS = 2;
const MINUTES = 60_000;

describe.runIf(process.env.ONCEONLY_AWS_TESTS)("idempotentBatch after a redrive, on AWS", () => {
  const name = `onceonly-test-${randomUUID()}`;
  let sqs: SQSClient;
  let dynamodb: DynamoDBClient;
  let queue: string;
  let deadLetters: string;
  let deadLettersArn: string;

  beforeAll(async () => {
    [sqs, dynamodb] = [new SQSClient({}), new DynamoDBClient({})];
    const fifo = { FifoQueue: "true" };
    deadLetters = await newQueue(`${name}-dead.fifo`, fifo);
    deadLettersArn = await arnOf(deadLetters);
    const RedrivePolicy = JSON.stringify({
      deadLetterTargetArn: deadLettersArn,
      maxReceiveCount: MAX_RECEIVES,
    });
    const VisibilityTimeout = `${VISIBILITY_SECONDS}`;
    queue = await newQueue(`${name}.fifo`, { ...fifo, VisibilityTimeout, RedrivePolicy });
    await dynamodb.send(
      new CreateTableCommand({
        TableName: name,
        BillingMode: "PAY_PER_REQUEST",
        AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
        KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
      }),
    );
    await waitUntilTableExists({ client: dynamodb, maxWaitTime: 120 }, { TableName: name });
  }, 3 * MINUTES);

  afterAll(async () => {
    const left = [queue, deadLetters].filter((url) => url !== undefined);
    await Promise.allSettled([
      ...left.map((QueueUrl) => sqs.send(new DeleteQueueCommand({ QueueUrl }))),
      dynamodb.send(new DeleteTableCommand({ TableName: name })),
    ]);
    for (const client of [sqs, dynamodb]) client.destroy();
  }, MINUTES);

  it(
    "H28: on AWS, an operation that was completed stays one effect",
    async () => {
      const consumer = newConsumer();
      const key = await send();
      await deliverUntil(consumer, undefined, "lost");

      await redrive();
      await deliverUntil(consumer, () => consumer.reported("replayed") >= MAX_RECEIVES, "heard");

      expect([consumer.runs, consumer.keys]).toEqual([1, new Set([key])]);
      expect(consumer.ids.size).toBe(2);
    },
    4 * MINUTES,
  );

  it(
    "H28: on AWS, an operation that failed runs again once, and has one effect",
    async () => {
      const consumer = newConsumer();
      const key = await send();
      consumer.fails = true;
      await deliverUntil(consumer, undefined, "heard");
      consumer.fails = false;

      await redrive();
      await deliverUntil(consumer, () => consumer.effects > 0, "heard");

      expect([consumer.effects, consumer.runs, consumer.keys]).toEqual([1, MAX_RECEIVES + 1, new Set([key])]);
      expect(consumer.ids.size).toBe(2);
    },
    4 * MINUTES,
  );

  function newConsumer() {
    const events: DecisionEvent[] = [];
    const state = { fails: false, runs: 0, effects: 0, keys: new Set<string>(), ids: new Set<string>() };
    const handle = idempotentBatch<SQSRecord, never>(
      (_record, { idempotency }) => {
        state.runs++;
        state.keys.add(idempotency.key);
        if (state.fails) throw new Error("the gateway is down");
        state.effects++;
      },
      {
        operation: `pay-${randomUUID()}`,
        store: new DynamoDBStore({ tableName: name, client: dynamodb }) as never,
        observe: (event) => void events.push(event),
        onRecordError: () => {},
      },
    );
    return Object.assign(state, {
      handle,
      reported: (decision: string) => events.filter((event) => event.decision === decision).length,
    });
  }

  /** Receives until `isDone`, for as long as a redrive may take; without it until nothing comes any more. */
  async function deliverUntil(
    consumer: ReturnType<typeof newConsumer>,
    isDone: (() => boolean) | undefined,
    answer: "heard" | "lost",
  ): Promise<void> {
    for (let empty = 0; empty < (isDone ? 30 : 4) && !isDone?.(); ) {
      const messages = await receive();
      empty = messages.length > 0 ? 0 : empty + 1;
      for (const message of messages) {
        consumer.ids.add(String(message.MessageId));
        const record = sqsRecord(message as ReceivedMessage, await arnOf(queue), "us-east-1") as SQSRecord;
        const context = fakeLambdaContext({ clock: { now: Date.now } }) as Context;
        const { batchItemFailures } = await answered(consumer.handle({ Records: [record] }, context));
        if (answer === "heard" && batchItemFailures.length === 0) await remove(message);
      }
    }
  }

  async function receive(): Promise<Message[]> {
    const names = { MessageSystemAttributeNames: ["All" as const], MessageAttributeNames: ["All"] };
    const request = { QueueUrl: queue, WaitTimeSeconds: VISIBILITY_SECONDS + 1, ...names };
    return (await sqs.send(new ReceiveMessageCommand(request))).Messages ?? [];
  }

  function remove({ ReceiptHandle }: Message): Promise<unknown> {
    return sqs.send(new DeleteMessageCommand({ QueueUrl: queue, ReceiptHandle }));
  }

  function redrive(): Promise<unknown> {
    return sqs.send(new StartMessageMoveTaskCommand({ SourceArn: deadLettersArn }));
  }

  async function send(): Promise<string> {
    const key = `order-${randomUUID()}/paid`;
    await new FifoProducer({ queueUrl: queue, client: sqs }).send({ key, group: key, body: "paid" });
    return key;
  }

  async function newQueue(QueueName: string, Attributes: Record<string, string>): Promise<string> {
    return String((await sqs.send(new CreateQueueCommand({ QueueName, Attributes }))).QueueUrl);
  }

  async function arnOf(QueueUrl: string): Promise<string> {
    const request = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["QueueArn"] });
    return String((await sqs.send(request)).Attributes?.QueueArn);
  }
});

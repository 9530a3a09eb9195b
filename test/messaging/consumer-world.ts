// A FIFO queue with its dead-letter queue, which the AWS SDK reaches over HTTP. A producer sends to it, and a consumer in
// front of DynamoDB is fed as Lambda's event source mapping does it. One clock moves queues, leases and retention.
import { randomUUID } from "node:crypto";
import { type DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import {
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  StartMessageMoveTaskCommand,
} from "@aws-sdk/client-sqs";
import type { Context, SQSRecord } from "aws-lambda";
import { type BatchOptions, type DecisionEvent, idempotentBatch } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import { FifoProducer } from "onceonly/messaging";
import { fakeClock, fakeLambdaContext } from "onceonly/testing";
import { sqsRecord } from "../../packages/explorer/lib/aws/event-sources/sqs-record.ts";
import type { ReceivedMessage } from "../../packages/explorer/lib/aws/sqs/operations.ts";
import { arnOf, newFifo } from "../../packages/explorer/test/aws/sqs/cases/case.ts";
import { withDeadLetters } from "../../packages/explorer/test/aws/sqs/cases/dead-letter-given.ts";
import { sdkSubject, sqsClient } from "../../packages/explorer/test/aws/sqs/cases/sdk-subject.ts";
import { startSqs } from "../../packages/local/lib/sqs/start-sqs.ts";
import { createTable } from "../kit/tables.ts";
import { answered } from "../lambda/batch/given.ts";

export type ConsumerWorld = Awaited<ReturnType<typeof newConsumerWorld>>;

export const MAX_RECEIVES = 3;

const VISIBILITY_MS = 30_000;
const TIMEOUT_MS = 20_000;

/** https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html */
type Answer =
  /** What the batch returns stays in the queue. */
  | "reported"
  /** Killed after its work: everything stays. */
  | "lost"
  /** Everything is deleted, done or not: by somebody's hand, or a mapping that does not report what is not done. */
  | "ignored";

/** Creates a table for records and charges together. */
export async function newConsumerWorld(dynamodb: DynamoDBClient) {
  const tableName = await createTable(dynamodb);
  const clock = fakeClock();
  const engine = await startSqs({ clock });
  const sqs = sqsClient(engine.endpoint);
  const subject = sdkSubject({ endpoint: engine.endpoint, clock, stop: () => engine.stop() });
  const { queue, deadLetters } = await withDeadLetters(
    subject,
    (each, attributes) => newFifo(each, { MessageRetentionPeriod: "1209600", ...attributes }),
    MAX_RECEIVES,
  );
  const [queueArn, deadLettersArn] = [await arnOf(subject, queue), await arnOf(subject, deadLetters)];
  const producer = new FifoProducer({ queueUrl: queue, client: sqs, clock });

  const receive = async (QueueUrl: string, VisibilityTimeout = VISIBILITY_MS / 1000) => {
    const names = { MessageSystemAttributeNames: ["All" as const], MessageAttributeNames: ["All"] };
    const request = { QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout, ...names };
    return (await sqs.send(new ReceiveMessageCommand(request))).Messages ?? [];
  };
  const remove = ({ ReceiptHandle }: Message) =>
    sqs.send(new DeleteMessageCommand({ QueueUrl: queue, ReceiptHandle }));
  const recordOf = (message: Message) =>
    sqsRecord(message as ReceivedMessage, queueArn, "us-east-1") as SQSRecord;

  /** Charges for each message unless the test says otherwise; records the attempt of each run. */
  function newConsumer(changes: Partial<BatchOptions<SQSRecord, DynamoDBWrite>> = {}) {
    const state = {
      fate: "charges" as "charges" | "fails" | "hangs",
      attempts: [] as number[],
      events: [] as DecisionEvent[],
      errors: [] as unknown[],
    };
    const options: BatchOptions<SQSRecord, DynamoDBWrite> = {
      operation: "charge-payment",
      store: new DynamoDBStore({ tableName, client: dynamodb }),
      clock,
      observe: (event) => state.events.push(event),
      onRecordError: (error) => state.errors.push(error),
      ...changes,
    };
    let hung = () => {};
    const handler = idempotentBatch<SQSRecord, DynamoDBWrite>(async ({ body }, { idempotency }) => {
      state.attempts.push(idempotency.attempt ?? 0);
      if (state.fate === "fails") throw new Error("the gateway is down");
      if (state.fate === "hangs") await new Promise(() => hung());
      await idempotency.commit(null, { writes: [chargeOf(body)] });
    }, options);

    /** One receive and the invocation for what it finds: the messages that were delivered. */
    async function poll(answer: Answer = "reported"): Promise<Message[]> {
      const messages = await receive(queue);
      if (messages.length === 0) return [];
      const context = fakeLambdaContext({ clock, remainingMs: TIMEOUT_MS }) as Context;
      const timedOut = new Promise<void>((resolve) => {
        hung = resolve;
      }).then(() => clock.advance(TIMEOUT_MS));
      const answering = answered(handler({ Records: messages.map(recordOf) }, context));
      await Promise.race([answering, timedOut]);
      const { batchItemFailures } = await answering;
      const returned = batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
      for (const message of messages) {
        const isReturned = answer === "reported" && returned.includes(String(message.MessageId));
        if (answer !== "lost" && !isReturned) await remove(message);
      }
      return messages;
    }

    return Object.assign(state, {
      poll,
      /** Delivers as often as the queue allows, and once more: what is there then goes to the dead letters. */
      async exhaust(answer?: Answer) {
        for (let receives = 0; receives <= MAX_RECEIVES; receives++) {
          await poll(answer);
          await clock.advance(VISIBILITY_MS);
        }
      },
      reported: (decision: DecisionEvent["decision"]) =>
        state.events.filter((event) => event.decision === decision).length,
    });
  }

  /** Adds, and asks for nothing: a second effect under the same body would show. */
  const chargeOf = (body: string): DynamoDBWrite => ({
    Update: {
      TableName: tableName,
      Key: { pk: `charges ${orderIn(body)}` },
      UpdateExpression: "ADD charges :one",
      ExpressionAttributeValues: { ":one": 1 },
    },
  });

  return {
    clock,
    queue,
    sqs,
    producer,
    newConsumer,
    receive,
    newQueue: (attributes: Record<string, string>) => newFifo(subject, attributes),
    /** A message nobody has sent before. */
    newMessage() {
      const order = randomUUID();
      return { key: `${order}/paid`, group: order, body: { order } };
    },
    async chargesOf({ body: { order } }: { body: { order: string } }): Promise<number> {
      const Key = { pk: { S: `charges ${order}` } };
      const { Item } = await dynamodb.send(
        new GetItemCommand({ TableName: tableName, Key, ConsistentRead: true }),
      );
      return Number(Item?.charges?.N ?? 0);
    },
    /** Looks without taking. */
    deadLetters: () => receive(deadLetters, 0),
    redrive: () => sqs.send(new StartMessageMoveTaskCommand({ SourceArn: deadLettersArn })),
    minutes: (minutes: number) => clock.advance(minutes * 60_000),
    async stop() {
      sqs.destroy();
      await subject.stop();
    },
  };
}

function orderIn(body: string): string {
  return (JSON.parse(body) as { order: string }).order;
}

// A consumer of the queue that the outbox sends to: notes the body of each message in its group, once.
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DeleteMessageCommand, ReceiveMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { Context, SQSRecord } from "aws-lambda";
import { type BatchOptions, idempotentBatch } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import type { Clock } from "onceonly/store-kit";
import { fakeLambdaContext } from "onceonly/testing";
import { sqsRecord } from "../../packages/explorer/lib/aws/event-sources/sqs-record.ts";
import type { ReceivedMessage } from "../../packages/explorer/lib/aws/sqs/operations.ts";

const QUEUE_ARN = "arn:aws:sqs:us-east-1:000000000000:payments.fifo";

/** Works off the queue when it is called, and answers with the bodies in the order of their delivery. */
export function newConsumer(
  dynamodb: DynamoDBClient,
  tableName: string,
  sqs: SQSClient,
  QueueUrl: string,
  clock: Clock,
  options: Partial<BatchOptions<SQSRecord, DynamoDBWrite>> = {},
): () => Promise<string[]> {
  /** Adds to a list, and asks for nothing: a second effect would show. */
  const effectOf = (body: string, group: string): DynamoDBWrite => ({
    Update: {
      TableName: tableName,
      Key: { pk: `effects ${group}` },
      UpdateExpression: "SET effects = list_append(if_not_exists(effects, :none), :body)",
      ExpressionAttributeValues: { ":none": [], ":body": [body.replace(/ .*/, "")] },
    },
  });

  const handler = idempotentBatch<SQSRecord, DynamoDBWrite>(
    ({ body, attributes }, { idempotency }) =>
      idempotency.commit(null, { writes: [effectOf(body, String(attributes.MessageGroupId))] }),
    {
      operation: "charge-payment",
      store: new DynamoDBStore({ tableName, client: dynamodb }),
      clock,
      ...options,
    },
  );

  async function receive() {
    const names = { MessageSystemAttributeNames: ["All" as const], MessageAttributeNames: ["All"] };
    const request = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, ...names });
    return (await sqs.send(request)).Messages ?? [];
  }

  return async function consume() {
    const delivered: string[] = [];
    for (let some = await receive(); some.length > 0; some = await receive()) {
      delivered.push(...some.map(({ Body }) => String(Body)));
      const Records = some.map(
        (message) => sqsRecord(message as ReceivedMessage, QUEUE_ARN, "us-east-1") as SQSRecord,
      );
      const { batchItemFailures } = await handler({ Records }, fakeLambdaContext({ clock }) as Context);
      if (batchItemFailures.length > 0) throw new Error("the consumer failed");
      for (const { ReceiptHandle } of some) {
        await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
      }
    }
    return delivered;
  };
}

// The sample functions' imports from onceonly, without its promises: each call runs, and messages are sent after
// the writes. The demo bundles this file in place of the package.
import { randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SendMessageBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import {
  DynamoDBDocumentClient,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from "@aws-sdk/lib-dynamodb";
import type { APIGatewayProxyEventV2, SQSEvent, SQSRecord } from "aws-lambda";

interface Message {
  readonly queue: string;
  readonly key: string;
  readonly group: string;
  readonly body: unknown;
}

interface Effects {
  readonly writes?: TransactWriteCommandInput["TransactItems"];
  readonly messages?: readonly Message[];
}

interface Asked {
  readonly event: APIGatewayProxyEventV2;
  readonly context: object;
}

const database = DynamoDBDocumentClient.from(new DynamoDBClient());
const sqs = new SQSClient();

export class DynamoDBStore {}
export class PermanentError extends Error {}
export const callerFromAuthorizer = () => undefined;
export const emfMetrics = () => undefined;

export const httpIdempotency = () => ({
  before({ event, context }: Asked) {
    const key = event.headers["idempotency-key"] ?? "";
    Object.assign(context, { idempotency: execution(key.replaceAll('"', "")) });
  },
});

export function idempotentBatch(handle: (record: SQSRecord, context: object) => Promise<unknown>) {
  return async ({ Records }: SQSEvent) => {
    const ends = await Promise.allSettled(
      Records.map((record) => handle(record, { idempotency: execution(record.messageId) })),
    );
    const failed = Records.filter((_, index) => ends[index]?.status === "rejected");
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  };
}

function execution(key: string) {
  return {
    key,
    signal: new AbortController().signal,
    /** The clients of payment gateways make a key for each call, too. */
    childKey: () => randomUUID(),
    async commit<Result>(result: Result, { writes, messages = [] }: Effects): Promise<Result> {
      if (writes) await database.send(new TransactWriteCommand({ TransactItems: writes }));
      for (const message of messages) await send(message);
      return result;
    },
  };
}

async function send({ queue, key, group, body }: Message): Promise<void> {
  const entry = {
    Id: "message",
    MessageBody: JSON.stringify(body),
    MessageGroupId: group,
    MessageDeduplicationId: key,
  };
  const { Failed = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl: queue, Entries: [entry] }));
  if (Failed.length > 0) throw new Error("the queue refused the message");
}

/** An SQS behind an endpoint, through AWS's own SDK. */
import {
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ListMessageMoveTasksCommand,
  ListQueuesCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
  StartMessageMoveTaskCommand,
} from "@aws-sdk/client-sqs";
import type { FakeClock } from "../../../../../../lib/testing/fake-clock.ts";
import type { SqsOperationName } from "../../../../lib/aws/sqs/operations.ts";
import type { SqsSubject } from "./subject.ts";

const COMMANDS: Readonly<Record<SqsOperationName, unknown>> = {
  ChangeMessageVisibility: ChangeMessageVisibilityCommand,
  ChangeMessageVisibilityBatch: ChangeMessageVisibilityBatchCommand,
  CreateQueue: CreateQueueCommand,
  DeleteMessage: DeleteMessageCommand,
  DeleteMessageBatch: DeleteMessageBatchCommand,
  DeleteQueue: DeleteQueueCommand,
  GetQueueAttributes: GetQueueAttributesCommand,
  GetQueueUrl: GetQueueUrlCommand,
  ListMessageMoveTasks: ListMessageMoveTasksCommand,
  ListQueues: ListQueuesCommand,
  PurgeQueue: PurgeQueueCommand,
  ReceiveMessage: ReceiveMessageCommand,
  SendMessage: SendMessageCommand,
  SendMessageBatch: SendMessageBatchCommand,
  SetQueueAttributes: SetQueueAttributesCommand,
  StartMessageMoveTask: StartMessageMoveTaskCommand,
};

type AnyCommand = Parameters<SQSClient["send"]>[0];

export interface SdkSubjectOptions {
  readonly endpoint: string;
  readonly clock?: FakeClock | undefined;
  readonly stop: () => Promise<unknown>;
}

export function sdkSubject({ endpoint, clock, stop }: SdkSubjectOptions): SqsSubject {
  const client = sqsClient(endpoint);
  return {
    async call(name, input) {
      const { $metadata: _, ...output } = await client.send(commandOf(name, input));
      // What it does not have, the SDK leaves out or has as undefined.
      return JSON.parse(JSON.stringify(output, encodeBytes), decodeBytes);
    },
    clock,
    async stop() {
      client.destroy();
      await stop();
    },
  };
}

export function sqsClient(endpoint: string): SQSClient {
  return new SQSClient({
    endpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    maxAttempts: 1,
  });
}

function commandOf(name: SqsOperationName, input: object): AnyCommand {
  const Command = COMMANDS[name] as new (input: object) => AnyCommand;
  return new Command(input);
}

function encodeBytes(this: unknown, key: string, value: unknown): unknown {
  const original = (this as Record<string, unknown>)[key];
  return original instanceof Uint8Array ? { bytes: Buffer.from(original).toString("hex") } : value;
}

function decodeBytes(_key: string, value: unknown): unknown {
  const hex = (value as { bytes?: unknown } | null)?.bytes;
  return typeof hex === "string" ? new Uint8Array(Buffer.from(hex, "hex")) : value;
}

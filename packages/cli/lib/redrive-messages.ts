/** Receives dead letters one after the other, and sends each back before it is deleted. */
import type { Message, SendMessageCommandInput, SQSClient } from "@aws-sdk/client-sqs";
import { hashTuple, readEnvelope } from "onceonly/kit";

/** How long a message stays invisible while it's being sent back. */
const HIDDEN_SECONDS = 60;

export interface DeadLetter {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly group: string | undefined;
  /** The idempotency key of its envelope; absent where it has none that can be read. */
  readonly key: string | undefined;
  /** The queue that it came from, where SQS says it. */
  readonly sourceArn: string | undefined;
  inputFor(queueUrl: string): SendMessageCommandInput;
}

export type Redriven =
  | { readonly moved: true; readonly messageId: string }
  | { readonly moved: false; readonly messageId: string; readonly why: string };

/** Each message once, `max` at most, in the order of their groups. */
export async function* receiveDeadLetters(
  client: SQSClient,
  url: string,
  max: number,
): AsyncGenerator<DeadLetter> {
  const { ReceiveMessageCommand } = await import("@aws-sdk/client-sqs");
  const seen = new Set<string>();
  while (seen.size < max) {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl: url,
        MaxNumberOfMessages: Math.min(10, max - seen.size),
        VisibilityTimeout: HIDDEN_SECONDS,
        MessageSystemAttributeNames: ["All"],
        MessageAttributeNames: ["All"],
      }),
    );
    const news = Messages.filter(({ MessageId = "" }) => !seen.has(MessageId));
    if (news.length === 0) return;
    for (const message of news) {
      seen.add(`${message.MessageId}`);
      yield deadLetterOf(message);
    }
  }
}

function deadLetterOf({ MessageId, ReceiptHandle, Body, Attributes = {}, ...message }: Message): DeadLetter {
  const messageId = `${MessageId}`;
  const { MessageGroupId: group, DeadLetterQueueSourceArn: sourceArn, AWSTraceHeader } = Attributes;
  const MessageAttributes = message.MessageAttributes ?? {};
  const reading = readEnvelope(MessageAttributes);
  return {
    messageId,
    receiptHandle: `${ReceiptHandle}`,
    group,
    sourceArn,
    key: reading.found ? reading.envelope.key : undefined,
    inputFor: (QueueUrl) => ({
      QueueUrl,
      MessageBody: `${Body}`,
      MessageAttributes,
      ...(group !== undefined && { MessageGroupId: group }),
      ...(QueueUrl.endsWith(".fifo") && { MessageDeduplicationId: redriveIdOf(messageId) }),
      ...(AWSTraceHeader && {
        MessageSystemAttributes: {
          AWSTraceHeader: { DataType: "String", StringValue: AWSTraceHeader },
        },
      }),
    }),
  };
}

/** Lets others receive again what was only looked at. What fails is seen again a minute later. */
export async function showAgain(
  client: SQSClient,
  url: string,
  passed: readonly DeadLetter[],
): Promise<void> {
  const { ChangeMessageVisibilityBatchCommand } = await import("@aws-sdk/client-sqs");
  for (let from = 0; from < passed.length; from += 10) {
    const Entries = passed.slice(from, from + 10).map(({ receiptHandle }, index) => ({
      Id: `${index}`,
      ReceiptHandle: receiptHandle,
      VisibilityTimeout: 0,
    }));
    await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries })).catch(() => {});
  }
}

/** Its former id may still be remembered, and would have the queue drop it. A second redrive of one message is dropped. */
const redriveIdOf = (messageId: string): string => hashTuple("onceonly/redrive/1", messageId);

/** A message that was sent and not deleted is redriven again, and its consumer answers by the key of its envelope. */
export async function sendBack(
  client: SQSClient,
  url: string,
  target: string,
  message: DeadLetter,
): Promise<Redriven> {
  const { DeleteMessageCommand, SendMessageCommand } = await import("@aws-sdk/client-sqs");
  const { messageId, receiptHandle } = message;
  try {
    await client.send(new SendMessageCommand(message.inputFor(target)));
  } catch (error) {
    return { moved: false, messageId, why: `it wasn't sent: ${(error as Error).name}` };
  }
  try {
    await client.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle: receiptHandle }));
    return { moved: true, messageId };
  } catch (error) {
    return {
      moved: false,
      messageId,
      why: `it was sent, but couldn't be deleted here: ${(error as Error).name}`,
    };
  }
}

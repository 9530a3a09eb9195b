/** Queues as a command looks at them: their counts, their dead-letter queues, and what lies in those. */
import type { Message, SQSClient, SQSClientConfig } from "@aws-sdk/client-sqs";
import { ENVELOPE_ATTRIBUTE, parseAddress, readEnvelope } from "onceonly/kit";
import { type OptionValues, UsageError } from "./command.ts";
import { checkInstalled } from "./installed.ts";
import { LOCAL_CREDENTIALS } from "./table.ts";

/** How long a message that was looked at stays hidden from other receivers. */
const PEEK_SECONDS = 5;

export interface QueueLook {
  readonly url: string;
  readonly arn: string;
  readonly waiting: number;
  readonly inFlight: number;
  readonly delayed: number;
  /** The URL of the queue for dead letters; absent where there is none. */
  readonly deadLetters?: string;
}

/** A message of a dead-letter queue, without its body. */
export interface PeekedMessage {
  readonly messageId: string;
  /** The idempotency key of the envelope; absent where it has none that can be read. */
  readonly key?: string;
  /** Epoch ms. */
  readonly sentAt: number;
  readonly receives: number;
}

/**
 * The client for a queue's URL: in its Region, or for the local engine it names.
 * @throws UsageError if it isn't a queue's URL; Error if the client isn't installed
 */
export async function openQueue(url: string, { region, profile }: OptionValues): Promise<SQSClient> {
  const address = parseAddress("queue", url);
  if (!address) throw new UsageError(`not a queue URL: ${url}`);
  checkInstalled("@aws-sdk/client-sqs");
  const { SQSClient: Client } = await import("@aws-sdk/client-sqs");
  const config: SQSClientConfig = address.isLocal
    ? { endpoint: new URL(url).origin, region: `${region ?? "us-east-1"}` }
    : { region: `${address.region}` };
  if (typeof profile === "string") config.profile = profile;
  else if (address.isLocal) config.credentials = LOCAL_CREDENTIALS;
  return new Client(config);
}

export async function lookAtQueue(client: SQSClient, url: string): Promise<QueueLook> {
  const { GetQueueAttributesCommand } = await import("@aws-sdk/client-sqs");
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ["All"] }),
  );
  const { deadLetterTargetArn } = JSON.parse(Attributes.RedrivePolicy ?? "{}");
  return {
    url,
    arn: `${Attributes.QueueArn}`,
    waiting: Number(Attributes.ApproximateNumberOfMessages ?? 0),
    inFlight: Number(Attributes.ApproximateNumberOfMessagesNotVisible ?? 0),
    delayed: Number(Attributes.ApproximateNumberOfMessagesDelayed ?? 0),
    ...(deadLetterTargetArn && { deadLetters: siblingUrl(url, deadLetterTargetArn) }),
  };
}

/** The name at the end of a queue's URL. */
export const queueName = (url: string): string => url.slice(url.lastIndexOf("/") + 1);

/** A queue and its dead-letter queue are of one account and Region. */
export function siblingUrl(url: string, arn: string): string {
  return url.slice(0, url.lastIndexOf("/") + 1) + arn.slice(arn.lastIndexOf(":") + 1);
}

/**
 * Receives messages for a moment and deletes none, `requests` times ten at most. Each counts as a receive, so don't use
 * this on a queue that moves messages to a dead-letter queue.
 */
export async function peek(
  client: SQSClient,
  url: string,
  requests: number,
): Promise<readonly PeekedMessage[]> {
  const { ReceiveMessageCommand } = await import("@aws-sdk/client-sqs");
  const seen = new Map<string, PeekedMessage>();
  for (let request = 0; request < requests; request++) {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl: url,
        MaxNumberOfMessages: 10,
        VisibilityTimeout: PEEK_SECONDS,
        MessageSystemAttributeNames: ["SentTimestamp", "ApproximateReceiveCount"],
        MessageAttributeNames: [ENVELOPE_ATTRIBUTE],
      }),
    );
    const news = Messages.filter(({ MessageId = "" }) => !seen.has(MessageId));
    for (const message of news) seen.set(`${message.MessageId}`, peeked(message));
    if (news.length === 0) break;
  }
  return [...seen.values()];
}

function peeked({ MessageId, Attributes = {}, MessageAttributes }: Message): PeekedMessage {
  const reading = readEnvelope(MessageAttributes);
  return {
    messageId: `${MessageId}`,
    ...(reading.found && { key: reading.envelope.key }),
    sentAt: Number(Attributes.SentTimestamp),
    receives: Number(Attributes.ApproximateReceiveCount),
  };
}

/** A redrive by AWS, as the dead-letter queue reports it. */
export interface RedriveLook {
  readonly status: string;
  readonly moved: number;
  readonly startedAt: number;
}

export async function lookAtRedrives(client: SQSClient, arn: string): Promise<readonly RedriveLook[]> {
  const { ListMessageMoveTasksCommand } = await import("@aws-sdk/client-sqs");
  const { Results = [] } = await client.send(
    new ListMessageMoveTasksCommand({ SourceArn: arn, MaxResults: 3 }),
  );
  return Results.map((task) => ({
    status: `${task.Status}`,
    moved: Number(task.ApproximateNumberOfMessagesMoved ?? 0),
    startedAt: Number(task.StartedTimestamp),
  }));
}

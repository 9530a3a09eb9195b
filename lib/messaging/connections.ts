/** The ways to all kinds of destinations; each is opened when the first message for its kind is to be sent. */
import type { StoredMessage } from "../core/outgoing-message.ts";
import type { AwsClientLike } from "./client.ts";
import type { Entry, Request } from "./entry.ts";
import { connectToEventBridge, EVENTBRIDGE_MAX_BYTES, eventBridgeEntry } from "./eventbridge.ts";
import { type Sending, type SendingRules, sendInOrder } from "./send-in-order.ts";
import { connectToSns, SNS_MAX_BYTES, snsEntry } from "./sns.ts";
import { connectToSqs, SQS_MAX_BYTES, sqsEntry } from "./sqs.ts";

/** The fields of a message that name its destination. */
export const DESTINATION_KINDS = ["queue", "topic", "bus"] as const;
export type DestinationKind = (typeof DESTINATION_KINDS)[number];

export interface Clients {
  /** An `SQSClient`. @default - one that gives up connecting after 1 second and a request after 3 seconds */
  readonly sqs?: AwsClientLike | undefined;
  /** An `SNSClient`. @default - as `sqs` */
  readonly sns?: AwsClientLike | undefined;
  /** An `EventBridgeClient`. @default - as `sqs` */
  readonly eventBridge?: AwsClientLike | undefined;
}

/** Sends messages to one destination. */
export type Way = (
  address: string,
  messages: readonly StoredMessage[],
  rules: SendingRules,
) => Promise<Sending>;

export type Connections = Readonly<Record<DestinationKind, Way>>;

export function connect({ sqs, sns, eventBridge }: Clients): Connections {
  const toEventBridge = async () => {
    const request = await connectToEventBridge(eventBridge);
    return () => request;
  };
  return {
    queue: wayTo(() => connectToSqs(sqs), sqsEntry, SQS_MAX_BYTES),
    topic: wayTo(() => connectToSns(sns), snsEntry, SNS_MAX_BYTES),
    bus: wayTo(toEventBridge, eventBridgeEntry, EVENTBRIDGE_MAX_BYTES),
  };
}

function wayTo<Form>(
  open: () => Promise<(address: string) => Request<Form>>,
  entryOf: (message: StoredMessage) => Entry<Form>,
  maxBytes: number,
): Way {
  let opened: ReturnType<typeof open> | undefined;
  return function sendTo(address, messages, rules) {
    const request: Request<Form> = async (forms) => {
      opened ??= open();
      return (await opened)(address)(forms);
    };
    const entries = messages.map((message) => entryOf(message));
    return sendInOrder(entries, maxBytes, request, rules);
  };
}

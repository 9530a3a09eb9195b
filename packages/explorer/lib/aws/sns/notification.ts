/** A message for a subscriber: its form, and whether it passes the subscription's filter. Pure. */
import type { MessageAttribute, SqsMessageAttributes } from "../sqs/message.ts";
import type { PublishedMessage } from "./operations.ts";
import type { Subscription } from "./topic.ts";

/** An accepted message, before it is wrapped for a subscriber. */
export interface SnsNotification extends PublishedMessage {
  readonly topicArn: string;
  readonly messageId: string;
  readonly sequenceNumber: string | undefined;
  /** Epoch ms. */
  readonly publishedAt: number;
}

const ADDRESS = "https://sns.us-east-1.amazonaws.com";

/**
 * The envelope of a message without raw delivery.
 * https://docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html
 */
export function wrapped(notification: SnsNotification, subscription: Subscription) {
  const { topicArn, messageId, sequenceNumber, publishedAt, Subject, Message } = notification;
  return {
    Type: "Notification",
    MessageId: messageId,
    ...(sequenceNumber !== undefined && { SequenceNumber: sequenceNumber }),
    TopicArn: topicArn,
    ...(Subject !== undefined && { Subject }),
    Message,
    Timestamp: new Date(publishedAt).toISOString(),
    SignatureVersion: "1",
    Signature: "none",
    SigningCertURL: `${ADDRESS}/SimpleNotificationService.pem`,
    UnsubscribeURL: `${ADDRESS}/?Action=Unsubscribe&SubscriptionArn=${subscription.arn}`,
    ...(notification.MessageAttributes && { MessageAttributes: typedValues(notification.MessageAttributes) }),
  };
}

/** The event of a subscribed function, in which two names are spelt otherwise. https://docs.aws.amazon.com/lambda/latest/dg/with-sns.html */
export function snsEvent(notification: SnsNotification, subscription: Subscription): object {
  const { SigningCertURL, UnsubscribeURL, ...envelope } = wrapped(notification, subscription);
  const addresses = { SigningCertUrl: SigningCertURL, UnsubscribeUrl: UnsubscribeURL };
  const Sns = { Subject: null, MessageAttributes: {}, ...envelope, ...addresses };
  const record = {
    EventSource: "aws:sns",
    EventVersion: "1.0",
    EventSubscriptionArn: subscription.arn,
    Sns,
  };
  return { Records: [record] };
}

/** https://docs.aws.amazon.com/sns/latest/dg/sns-message-filtering.html */
export function isWanted(notification: SnsNotification, { filter, filterScope }: Subscription): boolean {
  if (filterScope === "MessageBody") return filter(parsed(notification.Message));
  const attributes = Object.entries(notification.MessageAttributes ?? {});
  return filter(Object.fromEntries(attributes.map(([name, attribute]) => [name, filterable(attribute)])));
}

function filterable({ DataType, StringValue }: MessageAttribute): unknown {
  if (DataType === "Number") return Number(StringValue);
  return DataType === "String.Array" ? parsed(StringValue ?? "") : StringValue;
}

function typedValues(attributes: SqsMessageAttributes): object {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, { DataType, StringValue, BinaryValue }]) => [
      name,
      { Type: DataType, Value: StringValue ?? Buffer.from(BinaryValue ?? []).toString("base64") },
    ]),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

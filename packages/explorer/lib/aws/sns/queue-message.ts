/**
 * Builds the message for a subscribed queue: the bare message, or the message in SNS's envelope. Pure.
 * https://docs.aws.amazon.com/sns/latest/dg/sns-large-payload-raw-message-delivery.html
 */
import type { SendRequest } from "../sqs/operations.ts";
import { type SnsNotification, wrapped } from "./notification.ts";
import type { Subscription } from "./topic.ts";

export function queueMessage(notification: SnsNotification, subscription: Subscription): SendRequest {
  const { Message, MessageAttributes, MessageGroupId, MessageDeduplicationId } = notification;
  const isFifo = subscription.endpoint.endsWith(".fifo");
  return {
    ...(subscription.isRaw
      ? { MessageBody: Message, MessageAttributes }
      : { MessageBody: JSON.stringify(wrapped(notification, subscription)) }),
    ...(MessageGroupId !== undefined && { MessageGroupId }),
    ...(isFifo && { MessageDeduplicationId }),
  };
}

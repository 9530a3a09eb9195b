// What the services of AWS make of a message on its way to a queue, as their documentation shows it.
import { ENVELOPE_ATTRIBUTE } from "../../../../lib/contract.ts";
import { writeEnvelope } from "../../../../lib/messaging/sqs-and-sns.ts";

export const TOPIC = "arn:aws:sns:eu-central-1:123456789012:orders";
export const BUS = "arn:aws:events:eu-central-1:123456789012:event-bus/shop";
export const PIPE = "arn:aws:pipes:eu-central-1:123456789012:pipe/orders";

/** What an envelope holds, as text. */
export const contentFor = (key: string) => writeEnvelope({ key })[ENVELOPE_ATTRIBUTE]!.StringValue;
export const snsEnvelope = (key: string) => ({ Type: "String", Value: contentFor(key) });

interface Notification {
  readonly id?: string | undefined;
  readonly envelopeText?: string | undefined;
  readonly message?: string;
  readonly subject?: string;
  readonly attributes?: object;
}

/** https://docs.aws.amazon.com/sns/latest/dg/sns-large-payload-raw-message-delivery.html */
export function notification(given: Notification = {}): string {
  const { id = "n1", message = "paid", subject, attributes } = given;
  const envelopeText = "envelopeText" in given ? given.envelopeText : contentFor("order-7");
  return JSON.stringify({
    Type: "Notification",
    MessageId: id,
    TopicArn: TOPIC,
    Subject: subject,
    Message: message,
    Timestamp: `2026-01-01T00:00:0${id.length}.000Z`,
    SignatureVersion: "1",
    Signature: `signature of ${id}`,
    SigningCertURL: `https://sns.eu-central-1.amazonaws.com/${id}.pem`,
    UnsubscribeURL: `https://sns.eu-central-1.amazonaws.com/${id}`,
    MessageAttributes: {
      ...attributes,
      ...(envelopeText !== undefined && { [ENVELOPE_ATTRIBUTE]: { Type: "String", Value: envelopeText } }),
    },
  });
}

interface Sent {
  /** Differs each time it is sent. */
  readonly id?: string;
  readonly orderId?: number;
  /** The content of the envelope, which may be no JSON. */
  readonly content?: string;
  readonly more?: object;
}

const held = (content: string) => {
  try {
    return JSON.parse(content);
  } catch {
    return content;
  }
};

const detailOf = ({ orderId = 7, content = contentFor("order-7"), more }: Sent) => ({
  orderId,
  ...more,
  [ENVELOPE_ATTRIBUTE]: held(content),
});

const eventOf = (sent: Sent) => ({
  version: "0",
  id: sent.id ?? "e1",
  "detail-type": "paid",
  source: "shop",
  account: "123456789012",
  time: `2026-01-01T00:00:0${(sent.id ?? "e1").length}Z`,
  region: "eu-central-1",
  resources: [],
  detail: detailOf(sent),
});

/** https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-events-structure.html */
export const busEvent = (sent: Sent) => JSON.stringify(eventOf(sent));

/** As Lambda and pipes show it: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-pipes-sqs.html */
const queued = (sent: Sent, body: string, messageAttributes: object = {}) => ({
  messageId: `message of ${sent.id}`,
  receiptHandle: `receipt of ${sent.id}`,
  body,
  attributes: { ApproximateReceiveCount: "1", SentTimestamp: `${sent.id?.length}` },
  messageAttributes,
  md5OfBody: "md5",
  eventSource: "aws:sqs",
  eventSourceARN: "arn:aws:sqs:eu-central-1:123456789012:first",
  awsRegion: "eu-central-1",
});
const queuedEnvelope = ({ content = contentFor("order-7") }: Sent) => ({
  [ENVELOPE_ATTRIBUTE]: { stringValue: content, dataType: "String" },
});
const bodyOf = ({ orderId = 7 }: Sent) => JSON.stringify({ orderId });

const forwardedNotification = (sent: Sent, message: unknown) =>
  notification({ id: sent.id, envelopeText: undefined, message: JSON.stringify(message) });

/** Each way by which an envelope gets into the body of a queue's message. */
export const ROUTES: readonly {
  readonly route: string;
  readonly bodyOf: (sent: Sent) => string;
  readonly trustedForwarders: readonly string[];
}[] = [
  {
    route: "SNS without raw delivery",
    bodyOf: (sent) =>
      notification({
        id: sent.id,
        message: bodyOf(sent),
        envelopeText: sent.content ?? contentFor("order-7"),
      }),
    trustedForwarders: [TOPIC],
  },
  { route: "EventBridge", bodyOf: busEvent, trustedForwarders: [BUS] },
  {
    route: "EventBridge with InputPath $.detail",
    bodyOf: (sent) => JSON.stringify(detailOf(sent)),
    trustedForwarders: [BUS],
  },
  {
    route: "EventBridge with an input transformer",
    bodyOf: (sent) => JSON.stringify({ order: { detail: detailOf(sent) }, kind: "paid" }),
    trustedForwarders: [BUS],
  },
  {
    route: "EventBridge with an input transformer that makes text of the detail",
    bodyOf: (sent) => JSON.stringify({ order: JSON.stringify(detailOf(sent)), kind: "paid" }),
    trustedForwarders: [BUS],
  },
  {
    route: "EventBridge, then SNS without raw delivery",
    bodyOf: (sent) => forwardedNotification(sent, eventOf(sent)),
    trustedForwarders: [BUS, TOPIC],
  },
  {
    route: "EventBridge with InputPath $.detail, then SNS without raw delivery",
    bodyOf: (sent) => forwardedNotification(sent, detailOf(sent)),
    trustedForwarders: [BUS, TOPIC],
  },
  {
    route: "a queue and a pipe",
    bodyOf: (sent) => JSON.stringify(queued(sent, bodyOf(sent), queuedEnvelope(sent))),
    trustedForwarders: [PIPE, BUS],
  },
  {
    route: "SNS without raw delivery, a queue and a pipe",
    bodyOf: (sent) =>
      JSON.stringify(
        queued(
          sent,
          notification({
            id: sent.id,
            message: bodyOf(sent),
            envelopeText: sent.content ?? contentFor("order-7"),
          }),
        ),
      ),
    trustedForwarders: [TOPIC, BUS],
  },
  {
    route: "a queue, a pipe and EventBridge",
    bodyOf: (sent) =>
      JSON.stringify({
        ...eventOf(sent),
        source: "Pipe orders",
        "detail-type": "Event from aws:sqs",
        detail: queued(sent, bodyOf(sent), queuedEnvelope(sent)),
      }),
    trustedForwarders: [BUS],
  },
];

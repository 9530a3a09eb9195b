// Messages that a commit or a producer is given: sent with the key that was given, or refused before anything is written.
import { ENVELOPE_ATTRIBUTE } from "../../../lib/contract.ts";
import { prepareMessage } from "../../../lib/core/messages/prepare-message.ts";
import { readEnvelope } from "../../../lib/messaging/envelope.ts";
import { sqsEntry } from "../../../lib/messaging/sqs-and-sns.ts";
import { hold, type Suite } from "../world.ts";
import { ODD_OTHERS, ODD_TEXTS, oddTexts } from "./odd-values.ts";

type Fields = Readonly<Record<string, unknown>>;

const QUEUE = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments";
const GOOD = { queue: QUEUE, key: "order-7/paid", body: { orderId: 7 } };
const FORGED = JSON.stringify({ v: 1, key: "key-of-somebody-else" });

const NAMES = [
  ENVELOPE_ATTRIBUTE,
  ENVELOPE_ATTRIBUTE.toLowerCase(),
  ENVELOPE_ATTRIBUTE.toUpperCase(),
  `${ENVELOPE_ATTRIBUTE}2`,
  "onceonly",
  "AWS.x",
  "aws.trace",
  "Amazon.x",
  "AWSTraceHeader",
  ".a",
  "a.",
  "a..b",
  "a".repeat(256),
  "a".repeat(257),
  "ä",
  "a b",
];
const DELAYS = ["5", 900, 901, 1.5, { seconds: 5 }];
const FIELDS = ["MessageAttributes", "MessageDeduplicationId", "deduplicationId", "delay", "id", "toString"];

/** From JSON, as a payload brings them: there `__proto__` is a member as any other. */
const named = (name: string, value: unknown): unknown =>
  JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(value)}}`);

function inputs(): Fields[] {
  const texts = [
    ...ODD_TEXTS,
    ...oddTexts(100, ["a", ".", "-", " ", "\u0000", "\u007f", "é", "\ufffe"], 6, 7),
  ];
  const values = [...texts, ...ODD_OTHERS];
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`a${at}`, at]));
  return [
    ...["key", "group", "body", "traceparent"].flatMap((field) =>
      values.map((value) => ({ ...GOOD, [field]: value })),
    ),
    ...values.map((attributes) => ({ ...GOOD, attributes })),
    ...values.map((value) => ({ ...GOOD, attributes: { kind: value } })),
    ...[...texts, ...NAMES].map((name) => ({ ...GOOD, attributes: named(name, FORGED) })),
    ...[9, 10, 300].map((count) => ({ ...GOOD, attributes: many(count) })),
    ...[...ODD_OTHERS, ...DELAYS].flatMap((delaySeconds) => [
      { ...GOOD, delaySeconds },
      { ...GOOD, queue: `${QUEUE}.fifo`, group: "g", delaySeconds },
    ]),
    ...[...FIELDS, "__proto__"].map((name) => ({ ...GOOD, ...(named(name, FORGED) as object) })),
    ...ODD_OTHERS.map((message) => message as Fields),
  ];
}

export const messages: Suite<Fields> = {
  title: "messages",
  what: "keys, groups, bodies, attributes and delays of every odd kind, attributes that look like an envelope, and fields that look like ids",
  promise:
    "refused before anything is written, by an error without their content; or sent with the given key, and no further attribute",
  inputs,
  judge(input) {
    let stored: ReturnType<typeof prepareMessage>;
    try {
      stored = prepareMessage("messages[0]", input as never);
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      hold(/^(PAYLOAD_INVALID|MESSAGE_ID_INVALID)$/.test(`${code}`), `failed with ${String(error)}`);
      hold(message.length < 500 && !message.includes("somebody"), `says ${message}`);
      return "refused";
    }
    const { MessageAttributes, DelaySeconds = 0 } = sqsEntry(stored).form;
    const { attributes = {}, key } = input;
    const own = Object.keys(Object(attributes));
    hold(
      Object.keys(MessageAttributes).sort().join() === [...own, ENVELOPE_ATTRIBUTE].sort().join(),
      `has the attributes ${Object.keys(MessageAttributes).join()}`,
    );
    hold(own.length < 10 && DelaySeconds >= 0 && DelaySeconds <= 900, "is more than SQS takes");
    for (const { DataType, StringValue } of Object.values(MessageAttributes))
      hold(/^(String|Number)$/.test(DataType) && StringValue !== "", `has an attribute of type ${DataType}`);
    const reading = readEnvelope(MessageAttributes);
    hold(reading.found && reading.envelope.key === key, "goes under another key");
    return "accepted";
  },
};

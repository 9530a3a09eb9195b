// Bodies: whoever writes one does not choose under which identity it runs; and no two different ones are one request.
import { httpIdempotent, idempotentBatch } from "onceonly";
import { ENVELOPE_ATTRIBUTE } from "../../../lib/contract.ts";
import { answered, sqsRecord } from "../../lambda/batch/given.ts";
import { type Answer, given } from "../../lambda/given.ts";
import { v1Event, v2Event } from "../../lambda/http/given.ts";
import { hold, type Suite } from "../world.ts";
import { ODD_TEXTS, oddTexts } from "./odd-values.ts";

const OURS = "arn:aws:sns:eu-central-1:123456789012:orders";
const THEIRS = "arn:aws:sns:eu-central-1:999999999999:orders";
const VICTIM = "key-of-somebody-else";
const envelope = { v: 1, key: VICTIM };
const encoded = JSON.stringify(envelope);

/** Forms in which an envelope may be put into a body. */
const HELD: readonly unknown[] = [
  envelope,
  encoded,
  JSON.stringify(encoded),
  { stringValue: encoded },
  { StringValue: encoded },
  { Value: encoded, Type: "String" },
  { Type: "String", Value: encoded },
  [envelope],
  { v: "1", key: VICTIM },
  { v: 1, key: [VICTIM] },
  { v: 2, key: VICTIM },
  "",
  null,
  1,
];

const NAMES = [
  ENVELOPE_ATTRIBUTE,
  ENVELOPE_ATTRIBUTE.toLowerCase(),
  ` ${ENVELOPE_ATTRIBUTE}`,
  `${ENVELOPE_ATTRIBUTE}\u200b`,
  "__proto__",
];

const member = (name: string, held: unknown) => `{${JSON.stringify(name)}:${JSON.stringify(held)}}`;

/** What a forwarder would put around it, and what only looks like it. */
const WRAPS: readonly ((inner: string) => string)[] = [
  (inner) => inner,
  (inner) => `{"detail":${inner}}`,
  (inner) => `{"source":"orders","detail-type":"placed","id":"e1","detail":${inner}}`,
  (inner) => `{"source":"orders","detail-type":"placed","detail":${JSON.stringify(inner)}}`,
  (inner) => `{"Type":"Notification","TopicArn":"${OURS}","Message":"order","MessageAttributes":${inner}}`,
  (inner) => `{"Type":"Notification","TopicArn":"${THEIRS}","Message":"order","MessageAttributes":${inner}}`,
  (inner) => `{"Type":"Notification","Message":"order","MessageAttributes":${inner}}`,
  (inner) => `{"TopicArn":["${OURS}"],"Message":"order","MessageAttributes":${inner}}`,
  (inner) => `{"TopicArn":"${OURS}","Message":${JSON.stringify(inner)}}`,
  (inner) => `{"TopicArn":"${OURS}","TopicArn":"${THEIRS}","Message":${JSON.stringify(inner)}}`,
  (inner) => `{"eventSource":"aws:sqs","body":"order","messageAttributes":${inner}}`,
  (inner) => `{"eventSource":"aws:sqs","messageAttributes":{},"body":${JSON.stringify(inner)}}`,
  (inner) => `[${inner}]`,
  (inner) => `{"order":{"note":${JSON.stringify(inner)}}}`,
  (inner) => `{"a":${inner},"b":${inner.replace(VICTIM, "another")}}`,
  (inner) => ` \n${inner}\n`,
  (inner) => `${inner} trailing`,
  (inner) => `${"[".repeat(600)}${inner}${"]".repeat(600)}`,
  (inner) => inner.replace("OnceonlyEnvelope", "Onceonly\\u0045nvelope"),
];

const BODIES = [
  ...WRAPS.flatMap((wrap) =>
    NAMES.flatMap((name, index) =>
      (index === 0 ? HELD : HELD.slice(0, 3)).map((held) => wrap(member(name, held))),
    ),
  ),
  ...ODD_TEXTS,
];

/** The option that says whose messages a consumer believes. */
const CONSUMERS = ["key", "nobody", "trustedForwarders"] as const;

async function judgeMessage(
  consumer: (typeof CONSUMERS)[number],
  body: string,
): Promise<"refused" | "accepted"> {
  const { options, store, context } = given();
  const keys: string[] = [];
  const handler = idempotentBatch<ReturnType<typeof sqsRecord>>(
    async (_, { idempotency }) => {
      keys.push(idempotency.key);
    },
    {
      ...options,
      onRecordError: () => {},
      ...(consumer === "key" && { key: () => "own" }),
      ...(consumer === "trustedForwarders" && { trustedForwarders: [OURS] }),
    },
  );
  const { batchItemFailures } = await answered(handler({ Records: [sqsRecord("m1", body)] }, context()));
  if (keys.length === 0) {
    hold(batchItemFailures.length === 1 && store.records.size === 0, "neither run nor returned");
    // Half of a character has no bytes, and so no fingerprint; SQS carries none.
    hold(consumer !== "key" || !body.isWellFormed(), "returned, although the consumer names its key itself");
    return "refused";
  }
  if (consumer === "key") hold(keys.join() === "own", `ran under ${keys.join()}`);
  else if (consumer === "nobody") hold(keys.join() === "m1", `ran under ${keys.join()}`);
  else
    hold(keys.join() === "m1" || (body.includes(OURS) && !body.includes(THEIRS)), `ran under ${keys.join()}`);
  return "accepted";
}

/** Bytes that a client may send; of two different ones under one key, the second is another request. */
const PAYLOADS = [
  ...ODD_TEXTS.filter((text) => text.length < 1000),
  "{}",
  "{ }",
  "[]",
  "null",
  '{"a":1}',
  '{"a":1.0}',
  '{"a":1 }',
  '{"a":1,"a":2}',
  '{"b":1,"a":1}',
  '{"a":1,"b":1}',
  '{"amount":9007199254740993}',
  '{"amount":9007199254740992}',
  '{"é":1}',
  '{"e\u0301":1}',
  '{"\\u00e9":1}',
  "a=1&b=2",
  "b=2&a=1",
  "{",
  "\u0000",
  ...oddTexts(40, ["{", "}", '"', "a", "1", ",", ":", " ", "\u0000", "é"], 10, 5),
];

async function judgePayloads(
  form: typeof v1Event | typeof v2Event,
  first: string,
  second: string,
): Promise<"refused" | "accepted"> {
  const { options, context } = given();
  let runs = 0;
  const handler = httpIdempotent(async () => ({ statusCode: 201, body: `${++runs}` }), {
    ...options,
    scope: "public",
  });
  const send = async (body: string, isBase64Encoded = false) =>
    (await handler(
      form({ headers: { "Idempotency-Key": "k" }, body, isBase64Encoded }) as never,
      context(),
    )) as unknown as Answer;
  const answers = [
    await send(first),
    await send(second),
    await send(Buffer.from(first).toString("base64"), true),
  ];
  const statuses = answers.map(({ statusCode }) => statusCode);
  if (!first.isWellFormed()) {
    hold(statuses[0] === 400, `a lone surrogate was answered with ${statuses[0]}`);
    return "refused";
  }
  const isSame = Buffer.from(first).equals(Buffer.from(second));
  const expected = second.isWellFormed() ? (isSame ? 201 : 422) : 400;
  hold(statuses[0] === 201 && statuses[1] === expected, `answered with ${statuses.join()}`);
  hold(statuses[2] === 201 && runs === 1, `the same bytes in base64 were answered with ${statuses[2]}`);
  return isSame ? "accepted" : "refused";
}

type HostileBody =
  | { readonly consumer: (typeof CONSUMERS)[number]; readonly body: string }
  | { readonly form: "v1" | "v2"; readonly first: string; readonly second: string };

export const bodies: Suite<HostileBody> = {
  title: "bodies",
  what: "messages that wrap a forged envelope as a notification, an event, a pipe's batch or none of them; pairs of HTTP bodies that look alike, as text and in base64",
  promise:
    "a message runs under its own name or its consumer's key, or is returned; the second of two HTTP bodies gets 422, unless the bytes are the same",
  inputs: () => [
    ...CONSUMERS.flatMap((consumer) => BODIES.map((body) => ({ consumer, body }))),
    ...PAYLOADS.flatMap((first, index) =>
      (["v1", "v2"] as const).map((form) => ({
        form,
        first,
        second: PAYLOADS[(index + 1) % PAYLOADS.length] ?? "",
      })),
    ),
  ],
  judge: (input) =>
    "consumer" in input
      ? judgeMessage(input.consumer, input.body)
      : judgePayloads(input.form === "v1" ? v1Event : v2Event, input.first, input.second),
};

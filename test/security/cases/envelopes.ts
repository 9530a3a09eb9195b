// Envelopes: the key that they name, or the message comes back. What cannot be read never becomes another key.
import fc from "fast-check";
import { idempotentBatch } from "onceonly";
import { readEnvelope } from "onceonly/messaging";
import { ENVELOPE_ATTRIBUTE } from "../../../lib/contract.ts";
import { keyFault } from "../../../lib/core/identity.ts";
import { answered, sqsRecord } from "../../lambda/batch/given.ts";
import { given } from "../../lambda/given.ts";
import { hold, type Suite } from "../world.ts";
import { ODD_OTHERS, ODD_TEXTS } from "./odd-values.ts";

const ENCODED: readonly string[] = [
  "",
  " ",
  "{}",
  "[]",
  "null",
  "true",
  "1",
  '"text"',
  "{",
  '{"v":1',
  '{"v":1,"key":"k"}}',
  '{"v":1,"key":"k"} x',
  '\ufeff{"v":1,"key":"k"}',
  '{"v":1,"key":"a","key":"b"}',
  '{"v":1,"__proto__":{"key":"k"}}',
  '{"__proto__":{"v":1,"key":"k"}}',
  '{"constructor":{"v":1},"key":"k"}',
  '{"v":"1","key":"k"}',
  '{"v":1.0,"key":"k"}',
  '{"v":1e0,"key":"k"}',
  '{"v":2,"key":"k"}',
  '{"v":-1,"key":"k"}',
  '{"v":0,"key":"k"}',
  '{"v":9007199254740993,"key":"k"}',
  '{"v":null,"key":"k"}',
  '{"v":[1],"key":"k"}',
  '{"key":"k"}',
  '{"v":1}',
  `{"v":1,"key":"k"${',"x":1'.repeat(5000)}}`,
  `${"[".repeat(5000)}${"]".repeat(5000)}`,
  `{"v":1,"key":${"[".repeat(5000)}1${"]".repeat(5000)}}`,
  '{"v":1,"key":{"toString":"k"}}',
  '{"v":1,"key":"k","traceparent":"00-x"}',
  '{"v":1,"key":"k","traceparent":{"a":1}}',
];

/** An envelope's content around anything that JSON can hold. */
const holding = (key: unknown) => JSON.stringify({ v: 1, key });

/** A message attribute as Lambda, SNS and the SDK hand it over, or as nobody does. */
const attributesOf = (held: unknown) => ({ [ENVELOPE_ATTRIBUTE]: held });

function jsonOf(value: unknown): string | undefined {
  try {
    return holding(value);
  } catch {
    return undefined;
  }
}

function inputs(): unknown[] {
  const generated = fc.sample(fc.json({ maxDepth: 2 }), { numRuns: 150, seed: 3 });
  const keyed = fc.sample(fc.jsonValue({ maxDepth: 1 }), { numRuns: 150, seed: 4 }).map(holding);
  const texts = [
    ...ENCODED,
    ...ODD_TEXTS,
    ...[...ODD_TEXTS, ...ODD_OTHERS].flatMap((value) => jsonOf(value) ?? []),
    ...generated,
    ...keyed,
  ];
  return [
    ...texts.map((stringValue) => attributesOf({ stringValue, dataType: "String" })),
    ...ODD_OTHERS.map(attributesOf),
    ...ODD_OTHERS.map((stringValue) => attributesOf({ stringValue })),
    ...ODD_OTHERS,
    attributesOf({ binaryValue: "eyJ2IjoxLCJrZXkiOiJrIn0=", dataType: "Binary" }),
    attributesOf({ stringValue: undefined, StringValue: holding("k") }),
    attributesOf({ Value: holding("k"), Type: "String" }),
    { [ENVELOPE_ATTRIBUTE.toLowerCase()]: { stringValue: holding("k") } },
  ];
}

/** What a reader of JSON that knows nothing of ours finds in an attribute. */
function namedKey(attributes: unknown): string | undefined {
  try {
    const { stringValue, StringValue, Value } =
      (attributes as Record<string, Record<string, string>>)[ENVELOPE_ATTRIBUTE] ?? {};
    const content: unknown = JSON.parse((stringValue ?? StringValue ?? Value) as string);
    if (typeof content !== "object" || content === null || !Object.hasOwn(content, "v")) return undefined;
    const { v, key } = content as { v: unknown; key: unknown };
    return v === 1 && Object.hasOwn(content, "key") && keyFault(key) === undefined
      ? (key as string)
      : undefined;
  } catch {
    return undefined;
  }
}

export async function judgeEnvelope(messageAttributes: unknown): Promise<"refused" | "accepted"> {
  const named = namedKey(messageAttributes);
  const reading = readEnvelope(messageAttributes);
  hold((reading.found ? reading.envelope.key : undefined) === named, `read as ${JSON.stringify(reading)}`);
  const { options, store, context } = given();
  const keys: string[] = [];
  const handler = idempotentBatch(
    async (_: unknown, { idempotency }) => {
      keys.push(idempotency.key);
    },
    { ...options, onRecordError: () => {} },
  );
  const record = { ...sqsRecord("m1"), messageAttributes: messageAttributes as never };
  const { batchItemFailures } = await answered(handler({ Records: [record] }, context()));
  if (reading.found || reading.reason === "absent") {
    hold(keys.join() === (named ?? "m1") && batchItemFailures.length === 0, `ran under ${keys.join()}`);
    return "accepted";
  }
  hold(
    keys.length === 0 && batchItemFailures.length === 1 && store.records.size === 0,
    "ran without a readable envelope",
  );
  return "refused";
}

export const envelopes: Suite = {
  title: "envelopes",
  what: "message attributes that aren't JSON, have another version, doubled, nested 5,000 deep, of another type, with prototypes, with keys of every odd kind",
  promise:
    "the key in the envelope, or the message is returned without running; without an envelope, the source's own name",
  inputs,
  judge: judgeEnvelope,
};

/**
 * Whether an envelope inside a body is believed. A writer of the body can write the envelope, and the notification or
 * event around it. So it is believed only where the user asserts who writes here. Pure.
 */
import { IdempotencyKeyInvalidError } from "../../core/errors.ts";
import { parseAddress } from "../../core/messages/address.ts";
import type { Check } from "../../core/option-checks.ts";
import type { Envelope, EnvelopeReading } from "../../messaging/envelope.ts";
import { envelopeKeyOf } from "./envelope-key.ts";
import { type Forwarded, readForwarded } from "./forwarded.ts";
import type { BatchItem } from "./item.ts";

/** ARNs of topics, names or ARNs of event buses, ARNs of pipes. */
export type Forwarders = readonly (string | undefined)[];

const PIPE = /^arn:[a-z-]+:pipes:[a-z\d-]+:\d{12}:pipe\/[\w.-]{1,64}$/;

export const FORWARDERS_CHECK: Check = [
  "must be a list of topics (ARNs), event buses (names or ARNs) and pipes (ARNs), one at least",
  (value) =>
    Array.isArray(value) && value.length > 0 && value.every((each) => isTopic(each) || isOther(each)),
];

/** What is the message of an item, and what travels with it. */
export type Message = Pick<BatchItem, "body" | "envelopeKey" | "committedAt" | "traceparent">;

/**
 * The envelope is an attribute, `reading`; or else inside the body, whose `text` is `raw` decoded. A body that counts
 * as forwarded is compared without what its forwarders put around it.
 */
export function messageOf(
  reading: EnvelopeReading,
  raw: unknown,
  text: string,
  by: Forwarders | undefined,
): Message {
  const isAbsent = !reading.found && reading.reason === "absent";
  const forwarded = isAbsent ? readForwarded(text) : undefined;
  if (forwarded === undefined) {
    return { body: raw, envelopeKey: () => envelopeKeyOf(reading), ...partsOf(reading) };
  }
  const envelopeKey = () => keyOfForwarded(forwarded, by);
  if (!believes(forwarded, by)) return { body: raw, envelopeKey };
  return { body: forwarded.content, envelopeKey, ...partsOf(forwarded.reading) };
}

/** @throws IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`) for an envelope that is not believed, or cannot be read. */
export function keyOfForwarded(forwarded: Forwarded, by: Forwarders | undefined): string | undefined {
  if (believes(forwarded, by)) return envelopeKeyOf(forwarded.reading);
  throw new IdempotencyKeyInvalidError(
    "the body of the message has an envelope in it, which whoever writes the body can forge: give `key`, or name in `forwardedBy` all that forward messages to this consumer",
  );
}

function partsOf(reading: EnvelopeReading): Pick<Envelope, "committedAt" | "traceparent"> {
  const { committedAt, traceparent } = reading.found ? reading.envelope : ({} as Partial<Envelope>);
  return { committedAt, traceparent };
}

function believes({ topics, isOfBus }: Forwarded, by: Forwarders = []): boolean {
  return topics.every((topic) => by.includes(topic)) && (!isOfBus || by.some(isOther));
}

function isTopic(value: unknown): boolean {
  return parseAddress("topic", value) !== undefined;
}

function isOther(value: unknown): boolean {
  return parseAddress("bus", value) !== undefined || (typeof value === "string" && PIPE.test(value));
}

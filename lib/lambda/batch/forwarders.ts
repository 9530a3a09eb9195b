/**
 * Decides whether an envelope inside a body is trusted. A writer of the body can write the envelope, and the notification
 * or event around it. So it's trusted only if the user asserts who writes here. Pure.
 */
import { IdempotencyKeyInvalidError } from "../../core/errors.ts";
import { parseAddress } from "../../core/messages/address.ts";
import type { Check } from "../../core/option-checks.ts";
import type { Envelope, EnvelopeReading } from "../../messaging/envelope.ts";
import { envelopeKeyOf } from "./envelope-key.ts";
import { type Forwarded, readForwarded } from "./forwarded.ts";
import type { BatchItem } from "./item.ts";

/** ARNs of topics, names or ARNs of event buses of both kinds, and ARNs of pipes and Kinesis streams. */
export type Forwarders = readonly (string | undefined)[];

/** A custom event bus can forward messages, but it isn't an address to send to. */
const CUSTOM_BUS = /^arn:[^:]+:events:[^:]+:\d{12}:event-busv2\/[\w.-]+\/[a-z\d]+$/;
const PIPE_OR_STREAM =
  /^arn:[a-z-]+:(?:pipes:[a-z\d-]+:\d{12}:pipe\/[\w.-]{1,64}|kinesis:[a-z\d-]+:\d{12}:stream\/[\w.-]{1,128})$/;

export const FORWARDERS_CHECK: Check = [
  "must be an array of at least one topic (ARN), event bus (name or ARN), pipe (ARN) or Kinesis stream (ARN)",
  (value) =>
    Array.isArray(value) && value.length > 0 && value.every((each) => isTopic(each) || isOther(each)),
];

/** An item's message, and the data that travels with it. */
export type Message = Pick<BatchItem, "body" | "envelopeKey" | "committedAt" | "traceparent">;

/**
 * The envelope is either an attribute, `reading`, or inside the body, whose `text` is `raw` decoded. A trusted forwarded
 * body is compared without what its forwarders added.
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

/** @throws IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`) for an envelope that isn't trusted, or can't be read. */
export function keyOfForwarded(forwarded: Forwarded, by: Forwarders | undefined): string | undefined {
  if (believes(forwarded, by)) return envelopeKeyOf(forwarded.reading);
  throw new IdempotencyKeyInvalidError(
    "the message carries its envelope in the body, where any sender could forge it: set `key`, or list in `trustedForwarders` every topic, bus, pipe and stream that brings messages to this consumer",
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
  const isArn = typeof value === "string" && (PIPE_OR_STREAM.test(value) || CUSTOM_BUS.test(value));
  return isArn || parseAddress("bus", value) !== undefined;
}

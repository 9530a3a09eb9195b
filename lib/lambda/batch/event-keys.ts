/** Keys of events that carry one record, for `idempotency` and `idempotent`. */
import { PayloadInvalidError } from "../../core/errors.ts";
import { hashTuple } from "../../core/identity.ts";
import { withCommitTime } from "../../core/message-age.ts";
import { checkOptions } from "../../core/option-checks.ts";
import { type EnvelopeReading, readEnvelope } from "../../messaging/envelope.ts";
import { envelopeKeyOf } from "./envelope-key.ts";
import { contentOf, readForwarded, readForwardedValue } from "./forwarded.ts";
import { FORWARDERS_CHECK, keyOfForwarded } from "./forwarders.ts";

/** What `keyFromSns` and `keyFromEventBridge` may believe. */
export interface EventKeyOptions {
  /**
   * The event buses (names or ARNs) and pipes (ARNs) whose events have an envelope that is believed. **By this you
   * promise that every event that they bring here was sent by onceonly, or that its detail holds no text of others.**
   * A writer of the detail could write an envelope too. Without this option an event with an envelope is refused.
   * @default - none
   */
  readonly forwardedBy?: readonly (string | undefined)[];
}

/** An event of SNS; `@types/aws-lambda` has the whole type. */
export interface SnsKeyEvent {
  readonly Records: readonly {
    readonly Sns: {
      readonly MessageId: string;
      readonly Message: string;
      readonly Subject?: string | null | undefined;
      readonly MessageAttributes?: Readonly<Record<string, { readonly Value: string }>>;
    };
  }[];
}

/** An event of EventBridge; `@types/aws-lambda` has the whole type. */
export interface EventBridgeKeyEvent {
  readonly id: string;
  readonly source?: string;
  readonly "detail-type"?: string;
  readonly detail?: unknown;
}

/** An event of S3; `@types/aws-lambda` has the whole type. */
export interface S3KeyEvent {
  readonly Records: readonly {
    readonly eventName: string;
    readonly s3: {
      readonly bucket: { readonly name: string };
      readonly object: {
        readonly key: string;
        readonly versionId?: string | undefined;
        readonly sequencer?: string | undefined;
        readonly eTag?: string | undefined;
        readonly size?: number | undefined;
      };
    };
  }[];
}

/**
 * The key of an SNS notification: its envelope's, or else its message id. Retries of a delivery share that id;
 * a message that is published again has another one. Use it together with `fingerprintFromSns`. An envelope inside the
 * message, as EventBridge publishes it to a topic, counts with `forwardedBy` only. Given as `key`, it makes the default of
 * `retentionSeconds` 35 days, and a message of an outbox that is older than the retention is refused.
 * @throws InvalidOptionError (`INVALID_OPTION`) at once. On events, PayloadInvalidError (`PAYLOAD_INVALID`) for several
 * records; IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`) for an envelope that is not believed or cannot be read.
 */
export function keyFromSns(options: EventKeyOptions = {}): (event: SnsKeyEvent) => string {
  const { forwardedBy } = checked(options);
  const keyOf = (event: SnsKeyEvent) => {
    const { Message, MessageId, MessageAttributes } = onlyPart(event, "Sns");
    const key = envelopeKeyOf(readEnvelope(MessageAttributes));
    const forwarded = key === undefined ? readForwarded(Message) : undefined;
    return key ?? (forwarded && keyOfForwarded(forwarded, forwardedBy)) ?? MessageId;
  };
  return withCommitTime(keyOf, (event: SnsKeyEvent) => {
    const { Message, MessageAttributes } = onlyPart(event, "Sns");
    return committedAtIn(readEnvelope(MessageAttributes)) ?? committedAtIn(readForwarded(Message)?.reading);
  });
}

/**
 * Reads the message out of an SNS notification: for `fingerprint`. The whole event differs each time a message is
 * published, and a second copy under one key would be refused instead of replayed.
 * @throws PayloadInvalidError (`PAYLOAD_INVALID`) for several records.
 */
export function fingerprintFromSns(): (event: SnsKeyEvent) => unknown {
  return (event) => contentOf({ TopicArn: "", ...onlyPart(event, "Sns") });
}

/**
 * The key of one change of an S3 object: bucket, key, version, sequencer and what happened. Yields nothing for events
 * without a sequencer, since a second change could not be told from a repeated event. Use it together with
 * `fingerprintFromS3`. Several records are several operations: call the handler for each, with `{ Records: [record] }`.
 * @throws PayloadInvalidError (`PAYLOAD_INVALID`) for several records.
 */
export function keyFromS3(): (event: S3KeyEvent) => string | undefined {
  return (event) => {
    const { bucket, object } = onlyPart(event, "s3");
    const { eventName } = onlyRecord(event);
    const { key, versionId = "", sequencer } = object;
    if (!sequencer) return undefined;
    return hashTuple("onceonly/s3/1", bucket.name, key, versionId, sequencer, eventName);
  };
}

/**
 * Reads the object out of an S3 event: for `fingerprint`. Bucket, key, version, eTag, size and what happened count. Times,
 * request ids, the notification's name and the sequencer do not: two notifications of one change are the same. With a `key`
 * of your own, such as the object's key, other content under that key is refused.
 * @throws PayloadInvalidError (`PAYLOAD_INVALID`) for several records.
 */
export function fingerprintFromS3(): (event: S3KeyEvent) => unknown {
  return (event) => {
    const { bucket, object } = onlyPart(event, "s3");
    const { eventName } = onlyRecord(event);
    const { key, versionId = null, eTag = null, size = null } = object;
    return { bucket: bucket.name, key, versionId, eTag, size, eventName };
  };
}

/**
 * The key of an EventBridge event: its envelope's, or else its id. Retries of a delivery share that id; an event that is
 * put again has another one. Use it together with `fingerprintFromEventBridge`. An envelope counts with `forwardedBy` only.
 * Retention and age count as for `keyFromSns`.
 * @throws InvalidOptionError (`INVALID_OPTION`) at once. On events, IdempotencyKeyInvalidError
 * (`IDEMPOTENCY_KEY_INVALID`) for an envelope that is not believed or cannot be read.
 */
export function keyFromEventBridge(options: EventKeyOptions = {}): (event: EventBridgeKeyEvent) => string {
  const { forwardedBy } = checked(options);
  const keyOf = (event: EventBridgeKeyEvent) => {
    const forwarded = readForwardedValue(event);
    return (forwarded && keyOfForwarded(forwarded, forwardedBy)) ?? event.id;
  };
  return withCommitTime(keyOf, (event: EventBridgeKeyEvent) =>
    committedAtIn(readForwardedValue(event)?.reading),
  );
}

/**
 * Reads what was sent out of an EventBridge event: for `fingerprint`. The whole event differs each time it is put, and a
 * second copy under one key would be refused instead of replayed.
 */
export function fingerprintFromEventBridge(): (event: EventBridgeKeyEvent) => unknown {
  return (event) => contentOf({ source: "", "detail-type": "", ...event });
}

function checked(options: EventKeyOptions): EventKeyOptions {
  checkOptions(options, { forwardedBy: FORWARDERS_CHECK }, []);
  return options;
}

/** An envelope that isn't believed has been refused by then: with its key. */
function committedAtIn(reading: EnvelopeReading | undefined): number | undefined {
  return reading?.found ? reading.envelope.committedAt : undefined;
}

/** One operation per event: of several records, one key could answer for the others. */
function onlyRecord<Entry>({ Records }: { readonly Records: readonly Entry[] }): Entry {
  // The test event of S3 has none, nor has a message that brings an event in its body.
  if (!Array.isArray(Records)) {
    throw new PayloadInvalidError(
      "the event has no `Records`: it is none of SNS or S3, or the text of a message",
    );
  }
  const [record, ...others] = Records as readonly Entry[];
  if (record !== undefined && others.length === 0) return record;
  throw new PayloadInvalidError(
    `the event has ${Records.length} records, and one key names one: call the handler for each, with { Records: [record] }`,
  );
}

/** The part of the only record that its source writes: `Sns` or `s3`. */
function onlyPart<Name extends string, Entry extends { readonly [name in Name]: object }>(
  event: { readonly Records: readonly Entry[] },
  name: Name,
): Entry[Name] {
  const part: Entry[Name] | undefined = onlyRecord(event)[name];
  if (part) return part;
  throw new PayloadInvalidError(
    `the record has no \`${name}\`, so that it is of another source: idempotentBatch takes those of queues and streams`,
  );
}

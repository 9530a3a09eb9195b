/** Keys of events that carry one record, for `idempotency` and `idempotent`. */
import { PayloadInvalidError } from "../../core/errors.ts";
import { hashTuple } from "../../core/identity.ts";
import { withCommitTime } from "../../core/message-age.ts";
import { checkOptions } from "../../core/option-checks.ts";
import { type EnvelopeReading, readEnvelope } from "../../messaging/envelope.ts";
import { envelopeKeyOf } from "./envelope-key.ts";
import { contentOf, readForwarded, readForwardedValue } from "./forwarded.ts";
import { FORWARDERS_CHECK, keyOfForwarded } from "./forwarders.ts";

/** Which envelopes `keyFromSns` and `keyFromEventBridge` trust. */
export interface EventKeyOptions {
  /**
   * The event buses (names or ARNs) and pipes (ARNs) whose envelopes are trusted. **You promise that onceonly sent every
   * event that they bring here, or that its detail holds no text written by others.** Anyone who can write the detail can
   * also write an envelope. Without this option, an event with an envelope is refused.
   * @default - none
   */
  readonly trustedForwarders?: readonly (string | undefined)[];
}

/** An SNS event; `@types/aws-lambda` has the full type. */
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

/** An EventBridge event; `@types/aws-lambda` has the full type. */
export interface EventBridgeKeyEvent {
  readonly id: string;
  readonly source?: string;
  readonly "detail-type"?: string;
  readonly detail?: unknown;
}

/** An S3 event; `@types/aws-lambda` has the full type. */
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
 * Reads the key of an SNS notification: its envelope's key, or else its message id. Retried deliveries have the same id;
 * a message that is published again gets a new one. Use it together with `fingerprintFromSns`. An envelope inside the
 * message, which is how EventBridge publishes it to a topic, counts only with `trustedForwarders`. Used as `key`, it
 * makes 35 days the default of `retentionSeconds`, and refuses outbox messages older than the retention.
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately. On events, PayloadInvalidError (`PAYLOAD_INVALID`) for
 * several records; IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`) for an envelope that isn't trusted or can't be
 * read.
 */
export function keyFromSns(options: EventKeyOptions = {}): (event: SnsKeyEvent) => string {
  const { trustedForwarders } = checked(options);
  const keyOf = (event: SnsKeyEvent) => {
    const { Message, MessageId, MessageAttributes } = onlyPart(event, "Sns");
    const key = envelopeKeyOf(readEnvelope(MessageAttributes));
    const forwarded = key === undefined ? readForwarded(Message) : undefined;
    return key ?? (forwarded && keyOfForwarded(forwarded, trustedForwarders)) ?? MessageId;
  };
  return withCommitTime(keyOf, (event: SnsKeyEvent) => {
    const { Message, MessageAttributes } = onlyPart(event, "Sns");
    return committedAtIn(readEnvelope(MessageAttributes)) ?? committedAtIn(readForwarded(Message)?.reading);
  });
}

/**
 * Reads the message from an SNS notification, for `fingerprint`. The whole event differs each time a message is
 * published, so a second copy under the same key would be refused instead of replayed.
 * @throws PayloadInvalidError (`PAYLOAD_INVALID`) for several records.
 */
export function fingerprintFromSns(): (event: SnsKeyEvent) => unknown {
  return (event) => contentOf({ TopicArn: "", ...onlyPart(event, "Sns") });
}

/**
 * Builds the key of one change of an S3 object from bucket, key, version, sequencer and event name. Returns nothing for
 * events without a sequencer, because a second change would look like a repeated event. Use it together with
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
 * Reads the object from an S3 event, for `fingerprint`: bucket, key, version, eTag, size and event name. Times, request
 * ids, the notification's name and the sequencer are left out, so two notifications of one change match. With your own
 * `key`, such as the object's key, different content under that key is refused.
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
 * Reads the key of an EventBridge event: its envelope's key, or else its id. Retried deliveries have the same id; an
 * event that is put again gets a new one. Use it together with `fingerprintFromEventBridge`. An envelope counts only with
 * `trustedForwarders`. Retention and age work as for `keyFromSns`.
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately. On events, IdempotencyKeyInvalidError
 * (`IDEMPOTENCY_KEY_INVALID`) for an envelope that isn't trusted or can't be read.
 */
export function keyFromEventBridge(options: EventKeyOptions = {}): (event: EventBridgeKeyEvent) => string {
  const { trustedForwarders } = checked(options);
  const keyOf = (event: EventBridgeKeyEvent) => {
    const forwarded = readForwardedValue(event);
    return (forwarded && keyOfForwarded(forwarded, trustedForwarders)) ?? event.id;
  };
  return withCommitTime(keyOf, (event: EventBridgeKeyEvent) =>
    committedAtIn(readForwardedValue(event)?.reading),
  );
}

/**
 * Reads what the producer sent from an EventBridge event, for `fingerprint`. The whole event differs each time it is put,
 * so a second copy under the same key would be refused instead of replayed.
 */
export function fingerprintFromEventBridge(): (event: EventBridgeKeyEvent) => unknown {
  return (event) => contentOf({ source: "", "detail-type": "", ...event });
}

function checked(options: EventKeyOptions): EventKeyOptions {
  checkOptions(options, { trustedForwarders: FORWARDERS_CHECK }, []);
  return options;
}

/** An untrusted envelope never gets here: reading its key has already thrown. */
function committedAtIn(reading: EnvelopeReading | undefined): number | undefined {
  return reading?.found ? reading.envelope.committedAt : undefined;
}

/** One operation per event: with several records, one key would stand for all of them. */
function onlyRecord<Entry>({ Records }: { readonly Records: readonly Entry[] }): Entry {
  // Neither S3's test event nor a message with an event in its body has any.
  if (!Array.isArray(Records)) {
    throw new PayloadInvalidError(
      "the event has no `Records`, so it isn't an SNS or S3 event (or it's still the string body of a message: parse that first)",
    );
  }
  const [record, ...others] = Records as readonly Entry[];
  if (record !== undefined && others.length === 0) return record;
  throw new PayloadInvalidError(
    `the event has ${Records.length} records, but a key identifies one: call the handler for each record, with { Records: [record] }`,
  );
}

/** The source's part of the only record: `Sns` or `s3`. */
function onlyPart<Name extends string, Entry extends { readonly [name in Name]: object }>(
  event: { readonly Records: readonly Entry[] },
  name: Name,
): Entry[Name] {
  const part: Entry[Name] | undefined = onlyRecord(event)[name];
  if (part) return part;
  throw new PayloadInvalidError(
    `the record has no \`${name}\`, so it comes from another source: for queues and streams use idempotentBatch`,
  );
}

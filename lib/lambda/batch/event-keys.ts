/** Keys of events that carry one record, for `idempotency` and `idempotent`. */
import { PayloadInvalidError } from "../../core/errors.ts";
import { hashTuple } from "../../core/identity.ts";
import { readDetailEnvelope, readEnvelope } from "../../messaging/envelope.ts";
import { envelopeKeyOf } from "./envelope-key.ts";
import { contentOfEvent, type SentEvent } from "./forwarded.ts";

/** An event of SNS; `@types/aws-lambda` has the whole type. */
export interface SnsKeyEvent {
  readonly Records: readonly {
    readonly Sns: {
      readonly MessageId: string;
      readonly Message: string;
      readonly MessageAttributes?: Readonly<Record<string, { readonly Value: string }>>;
    };
  }[];
}

/** An event of EventBridge; `@types/aws-lambda` has the whole type. */
export interface EventBridgeKeyEvent extends SentEvent {
  readonly id: string;
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
      };
    };
  }[];
}

/**
 * The key of an SNS notification: its envelope's, or else its message id. Retries of a delivery share that id;
 * a message that is published again has another one. Use it together with `fingerprintFromSns`.
 * @throws PayloadInvalidError (`PAYLOAD_INVALID`) for several records; IdempotencyKeyInvalidError
 * (`IDEMPOTENCY_KEY_INVALID`) for an envelope that cannot be read.
 */
export function keyFromSns(): (event: SnsKeyEvent) => string {
  return (event) => {
    const { MessageId, MessageAttributes } = onlyRecord(event).Sns;
    return envelopeKeyOf(readEnvelope(MessageAttributes)) ?? MessageId;
  };
}

/**
 * What of an SNS notification is the message: for `fingerprint`. The whole event differs each time a message is
 * published, and a second copy under one key would be refused instead of replayed.
 * @throws PayloadInvalidError (`PAYLOAD_INVALID`) for several records.
 */
export function fingerprintFromSns(): (event: SnsKeyEvent) => string {
  return (event) => onlyRecord(event).Sns.Message;
}

/**
 * The key of one change of an S3 object: bucket, key, version, sequencer and what happened. Yields nothing for events
 * without a sequencer, since a second change could not be told from a repeated event.
 * @throws PayloadInvalidError (`PAYLOAD_INVALID`) for several records.
 */
export function keyFromS3(): (event: S3KeyEvent) => string | undefined {
  return (event) => {
    const { eventName, s3 } = onlyRecord(event);
    const { key, versionId = "", sequencer } = s3.object;
    if (!sequencer) return undefined;
    return hashTuple("onceonly/s3/1", s3.bucket.name, key, versionId, sequencer, eventName);
  };
}

/**
 * The key of an EventBridge event: its envelope's, or else its id. Retries of a delivery share that id; an event that is
 * put again has another one. Use it together with `fingerprintFromEventBridge`.
 * @throws IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`) for an envelope that cannot be read.
 */
export function keyFromEventBridge(): (event: EventBridgeKeyEvent) => string {
  return ({ id, detail }) => envelopeKeyOf(readDetailEnvelope(detail)) ?? id;
}

/**
 * What of an EventBridge event is the message: for `fingerprint`. The whole event differs each time it is put, and a
 * second copy under one key would be refused instead of replayed.
 */
export function fingerprintFromEventBridge(): (event: EventBridgeKeyEvent) => unknown {
  return (event) => contentOfEvent(event);
}

/** One operation per event: of several records, one key could answer for the others. */
function onlyRecord<Entry>({ Records }: { readonly Records: readonly Entry[] }): Entry {
  const [record, ...others] = Records;
  if (record !== undefined && others.length === 0) return record;
  throw new PayloadInvalidError(
    `the event has ${Records.length} records, and one key names one: use runOnce`,
  );
}

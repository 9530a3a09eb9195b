/** Keys of events that carry one record, for `idempotency` and `idempotent`. */
import { PayloadInvalidError } from "../../core/errors.ts";
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
    const { Message, MessageId, MessageAttributes } = onlyPart(event);
    const key = envelopeKeyOf(readEnvelope(MessageAttributes));
    const forwarded = key === undefined ? readForwarded(Message) : undefined;
    return key ?? (forwarded && keyOfForwarded(forwarded, trustedForwarders)) ?? MessageId;
  };
  return withCommitTime(keyOf, (event: SnsKeyEvent) => {
    const { Message, MessageAttributes } = onlyPart(event);
    return committedAtIn(readEnvelope(MessageAttributes)) ?? committedAtIn(readForwarded(Message)?.reading);
  });
}

/**
 * Reads the message from an SNS notification, for `fingerprint`. The whole event differs each time a message is
 * published, so a second copy under the same key would be refused instead of replayed.
 * @throws PayloadInvalidError (`PAYLOAD_INVALID`) for several records.
 */
export function fingerprintFromSns(): (event: SnsKeyEvent) => unknown {
  return (event) => contentOf({ TopicArn: "", ...onlyPart(event) });
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

/** Lambda invokes with one notification at a time. */
function onlyPart(event: SnsKeyEvent): SnsKeyEvent["Records"][number]["Sns"] {
  const { Records } = Object(event) as Partial<SnsKeyEvent>;
  // A message with an event in its body has none.
  if (!Array.isArray(Records)) {
    throw new PayloadInvalidError(
      "the event has no `Records`, so it isn't an SNS event (or it's still the string body of a message: parse that first)",
    );
  }
  const [record, ...others] = Records as SnsKeyEvent["Records"];
  if (record === undefined || others.length > 0) {
    throw new PayloadInvalidError(
      `the event has ${Records.length} records, but a key identifies one: call the handler for each record, with { Records: [record] }`,
    );
  }
  if (record.Sns) return record.Sns;
  throw new PayloadInvalidError(
    "the record has no `Sns`, so it comes from another source: for queues and streams use idempotentBatch, for S3 `keyFromS3()`",
  );
}

/**
 * Changes of S3 objects, whichever way their notification arrives: from S3 itself, through SNS, SQS (also behind SNS) or
 * EventBridge (also behind SNS and SQS). Pure.
 */
import { PayloadInvalidError } from "../../core/errors.ts";
import { hashTuple } from "../../core/identity.ts";
import type { LambdaContext } from "../../core/lambda-context.ts";
import { withCommitTime } from "../../core/message-age.ts";

/** One change of one object. */
export interface S3Change {
  readonly bucket: string;
  /** The object's key as `GetObject` expects it: decoded if the notification encodes it. */
  readonly key: string;
  /** Such as `ObjectCreated:Put`, without `s3:`. EventBridge's names of creations and deletions are translated to these. */
  readonly eventName: string;
  /** Absent in a bucket without versions. */
  readonly versionId?: string;
  /** Absent for deletions. */
  readonly eTag?: string;
  /** In bytes; absent for deletions. */
  readonly size?: number;
  /** Orders the changes of one key; absent for events that neither create nor delete an object. */
  readonly sequencer?: string;
}

/** The `key` that `keyFromS3` returns. */
export interface S3Key {
  (event: unknown, context?: LambdaContext): string | undefined;
  (): string | undefined;
  /** Splits a record into one for each change. */
  readonly partsOf: (record: unknown) => readonly unknown[];
  /** The default fingerprint. */
  readonly contentOf: (event: unknown) => unknown;
}

type Fields = Readonly<Record<string, unknown>>;

/** SQS, SNS, a record of S3 and its list are five levels; a deeper message isn't from S3. */
const MAX_DEPTH = 8;

const CREATIONS: Readonly<Record<string, string>> = {
  PutObject: "Put",
  "POST Object": "Post",
  CopyObject: "Copy",
};

const REMOVAL = /^(ObjectRemoved|LifecycleExpiration):/;

/**
 * Makes the `key` of S3 notifications, however they arrive: from S3 itself, or through SNS, SQS, SNS and SQS, or
 * EventBridge. The key is made from bucket, object key, version (or eTag), sequencer and event name, so one change has the
 * same key on every route. Without a `fingerprint`, the object's content is compared, as by `fingerprintFromS3`.
 *
 * In `idempotentBatch` each change is an execution of its own: a message with several records runs the handler once for
 * each, with the message reduced to that record, and comes back if one fails. Events from SNS and S3 itself are accepted
 * there too. `idempotent` accepts one change. The default of `retentionSeconds` is 35 days, as for other messages.
 *
 * Returns nothing for events without a sequencer (tags, ACLs, restores), because a second change would look like a
 * repeated event: use your own `key`, such as EventBridge's `id`.
 * @throws PayloadInvalidError (`PAYLOAD_INVALID`) on events that aren't from S3, or, in `idempotent`, have several records.
 */
export function keyFromS3(): S3Key {
  const keyOf = (event?: unknown) => {
    const { bucket, key, versionId, eTag, sequencer, eventName } = readS3Change(event);
    if (!sequencer) return undefined;
    return hashTuple(
      "onceonly/s3/2",
      bucket,
      key,
      versionId ?? eTag ?? "",
      sequencer.toUpperCase(),
      eventName,
    );
  };
  const parts = (record: unknown) => partsOf(record);
  return withCommitTime(
    Object.assign(keyOf, { partsOf: parts, contentOf: fingerprintFromS3() }),
    () => undefined,
  );
}

/**
 * Reads the object from an S3 notification, for `fingerprint`: bucket, key, version, eTag, size and event name. Times,
 * request ids, the notification's name and the sequencer are left out, so two notifications of one change match. With your
 * own `key`, such as the object's key, different content under that key is refused.
 * @throws PayloadInvalidError (`PAYLOAD_INVALID`) as `readS3Change`.
 */
export function fingerprintFromS3(): (event: unknown) => unknown {
  return (event) => {
    const { bucket, key, versionId = null, eTag = null, size = null, eventName } = readS3Change(event);
    return { bucket, key, versionId, eTag, size, eventName };
  };
}

/**
 * Reads which object changed, from a notification on any of its routes: an event from S3, SNS or EventBridge, or an SQS
 * record. S3 encodes keys (`a+b%2Bc` is `a b+c`) and EventBridge doesn't: `key` is decoded in both cases.
 * @throws PayloadInvalidError (`PAYLOAD_INVALID`) for anything else, and for several records.
 */
export function readS3Change(event: unknown): S3Change {
  const parts = partsOf(event);
  const [part] = parts;
  if (parts.length === 0) throw new PayloadInvalidError("this is S3's test message, which names no object");
  if (parts.length > 1)
    throw new PayloadInvalidError(
      `the event has ${parts.length} records, but a key identifies one: use idempotentBatch with \`key: keyFromS3()\`, which runs the handler once for each`,
    );
  const found = innermost(part);
  return found.s3 ? changeOfRecord(found) : changeOfEvent(found);
}

/**
 * Whether this is exactly the message that S3 sends when its notifications are configured. It names no object.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-content-structure.html
 */
export function isS3Test(value: unknown): boolean {
  const { Service, Event } = Object(value) as Fields;
  const isOfS3 = Service === "Amazon S3" && Event === "s3:TestEvent";
  return (
    isOfS3 &&
    Object.keys(value as Fields)
      .sort()
      .join() === "Bucket,Event,HostId,RequestId,Service,Time"
  );
}

/** The fields that hold a notification: of an SNS record, an SQS record and an SNS notification. */
const HOLDERS = ["Sns", "body", "Message"] as const;

/** The same value once for each change in it; nothing for the test message. */
function partsOf(value: unknown, depth = 0): readonly unknown[] {
  if (depth > MAX_DEPTH) throw notOfS3();
  if (typeof value === "string") {
    const parts = partsOf(parsed(value), depth + 1);
    return parts.length === 1 ? [value] : parts.map((part) => JSON.stringify(part));
  }
  const fields = Object(value) as Fields;
  if (isS3Test(fields)) return [];
  if (isChange(fields)) return [value];
  const { Records } = fields;
  if (Array.isArray(Records) && Records.length > 0) {
    const parts = Records.flatMap((record) => partsOf(record, depth + 1));
    return Records.length === 1 && parts.length === 1
      ? [value]
      : parts.map((part) => ({ ...fields, Records: [part] }));
  }
  const name = HOLDERS.find((each) => fields[each] !== undefined);
  if (name === undefined) throw notOfS3();
  const parts = partsOf(fields[name], depth + 1);
  return parts.length === 1 ? [value] : parts.map((part) => ({ ...fields, [name]: part }));
}

/** The record or event of the only change. */
function innermost(value: unknown): Fields {
  const fields = Object(typeof value === "string" ? parsed(value) : value) as Fields;
  if (isChange(fields)) return fields;
  const [record] = Array.isArray(fields.Records) ? fields.Records : [];
  return innermost(record ?? fields.Sns ?? fields.body ?? fields.Message);
}

function isChange({ s3, source, detail }: Fields): boolean {
  return Object(s3) === s3 || (source === "aws.s3" && Object(detail) === detail);
}

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-content-structure.html */
function changeOfRecord({ s3, eventName }: Fields): S3Change {
  const { bucket, object } = Object(s3) as Fields;
  const { key, versionId, eTag, size, sequencer } = Object(object) as Fields;
  const name = typeof eventName === "string" ? eventName.replace(/^s3:/, "") : undefined;
  return change(bucket, name, { key: decoded(key), versionId, eTag, size, sequencer });
}

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/ev-events.html */
function changeOfEvent({ detail, "detail-type": type }: Fields): S3Change {
  const { bucket, object, reason, "deletion-type": deletion } = detail as Fields;
  const { key, "version-id": versionId, etag: eTag, size, sequencer } = Object(object) as Fields;
  const marks = deletion === "Delete Marker Created" ? "DeleteMarkerCreated" : "Delete";
  const names: Fields = {
    "Object Created": `ObjectCreated:${CREATIONS[`${reason}`] ?? reason}`,
    "Object Deleted": `${reason === "Lifecycle Expiration" ? "LifecycleExpiration" : "ObjectRemoved"}:${marks}`,
  };
  return change(bucket, names[`${type}`] ?? type, { key, versionId, eTag, size, sequencer });
}

/** Only one of the routes says what a deletion deleted. */
function change(bucket: unknown, eventName: unknown, object: Fields): S3Change {
  const { name } = Object(bucket) as Fields;
  const isText = [name, eventName, object.key].every((each) => typeof each === "string" && each !== "");
  if (!isText)
    throw new PayloadInvalidError("the S3 notification lacks its bucket's name, its key or its event name");
  const { key, versionId, eTag, size, sequencer } = object;
  const found = REMOVAL.test(`${eventName}`)
    ? { versionId, sequencer }
    : { versionId, eTag, size, sequencer };
  const present = Object.entries(found).filter(([, value]) => value !== undefined && value !== null);
  return { bucket: name, key, eventName, ...Object.fromEntries(present) } as unknown as S3Change;
}

function decoded(key: unknown): unknown {
  if (typeof key !== "string") return key;
  try {
    return decodeURIComponent(key.replaceAll("+", " "));
  } catch {
    throw new PayloadInvalidError("the object key isn't URL-encoded, as S3's notifications encode it");
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notOfS3();
  }
}

function notOfS3(): PayloadInvalidError {
  return new PayloadInvalidError(
    "this isn't an S3 notification: expected S3's `Records` or an EventBridge event of `aws.s3`, itself or in an SQS or SNS message",
  );
}

/**
 * A claim check replaces a message body that is stored in a bucket. It has the form of Amazon's extended clients, and
 * identifies the body by its hash. Pure.
 */
import { createHash } from "node:crypto";

export interface ClaimCheck {
  readonly bucket: string;
  /** The prefix, followed by the hash. */
  readonly key: string;
  /** The hash of the body, in hex. */
  readonly sha256: string;
}

/** https://github.com/awslabs/payload-offloading-java-common-lib-for-aws */
const POINTER = "software.amazon.payloadoffloading.PayloadS3Pointer";

/** Extended clients recognize a claim check by this attribute, which contains the body's size. */
export const SIZE_ATTRIBUTE = "ExtendedPayloadSize";

export function claimCheckOf(body: string, bucket: string, prefix: string): ClaimCheck {
  const sha256 = sha256Of(body);
  return { bucket, key: prefix + sha256, sha256 };
}

export function sha256Of(body: string): string {
  return createHash("sha256").update(body).digest("hex");
}

export function claimCheckText({ bucket, key }: ClaimCheck): string {
  return JSON.stringify([POINTER, { s3BucketName: bucket, s3Key: key }]);
}

export interface FoundClaimCheck {
  readonly check: ClaimCheck;
  /** Returns the text with the body inserted. */
  readonly withBody: (body: string) => string;
}

/**
 * Finds a claim check that is the whole text, or the whole message in an SNS notification or a pipe's record. One nested
 * deeper is a user's own text. One whose object isn't named by a hash isn't ours.
 */
export function findClaimCheck(text: string): FoundClaimCheck | undefined {
  if (!text.includes(POINTER)) return undefined;
  const parsed = parse(text);
  const check = readPointer(parsed);
  if (check) return { check, withBody: (body) => body };
  const { TopicArn, Message, eventSource, body: piped } = Object(parsed) as Readonly<Record<string, unknown>>;
  const [name, message] =
    typeof TopicArn === "string" ? ["Message", Message] : eventSource === "aws:sqs" ? ["body", piped] : [];
  const inside = typeof message === "string" ? readPointer(parse(message)) : undefined;
  const withBody = (body: string) => JSON.stringify({ ...(parsed as object), [`${name}`]: body });
  return inside && { check: inside, withBody };
}

function readPointer(value: unknown): ClaimCheck | undefined {
  const [name, pointer, ...more] = Array.isArray(value) ? value : [];
  const { s3BucketName: bucket, s3Key: key } = Object(pointer) as Record<string, unknown>;
  if (name !== POINTER || more.length > 0 || typeof bucket !== "string" || typeof key !== "string") {
    return undefined;
  }
  const [sha256] = /[\da-f]{64}$/.exec(key) ?? [];
  return sha256 === undefined ? undefined : { bucket, key, sha256 };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Loads the record that a handler gets: with the body in place of a claim check. */
import { BodyUnavailableError } from "../../core/errors.ts";
import { findClaimCheck } from "../../messaging/claim-check.ts";
import type { BatchItem } from "./item.ts";

/** Returns the body for a claim check, such as an S3ClaimCheck does. */
export interface ClaimCheckReader {
  open(text: string, signal?: AbortSignal): Promise<string>;
}

/**
 * Returns the record unchanged, except an SQS message with one of our claim checks, which never replaces the body. Its
 * envelope must be trusted: a sender who can write only a body must not choose what is read from the bucket.
 * @throws BodyUnavailableError (`BODY_UNAVAILABLE`); IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`) for an
 * envelope that isn't trusted.
 */
export function openedRecord(
  { record, envelopeKey }: BatchItem,
  claimCheck: ClaimCheckReader | undefined,
  signal: AbortSignal,
): unknown {
  const { body } = Object(record) as { body?: unknown };
  if (typeof body !== "string" || !findClaimCheck(body)) return record;
  if (claimCheck === undefined)
    throw new BodyUnavailableError("is in a bucket: pass `claimCheck` to idempotentBatch");
  if (envelopeKey?.() === undefined) {
    throw new BodyUnavailableError(
      "is supposed to be in a bucket, but the message has no envelope to prove it, so it isn't read",
    );
  }
  return claimCheck.open(body, signal).then((opened) => ({ ...(record as object), body: opened }));
}

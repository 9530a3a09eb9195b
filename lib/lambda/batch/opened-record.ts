/** The record that a handler gets: with the body for which a claim check stands. */
import { BodyUnavailableError } from "../../core/errors.ts";
import { findClaimCheck } from "../../messaging/claim-check.ts";
import type { BatchItem } from "./item.ts";

/** Answers with the body for which a text stands. S3Bodies is one. */
export interface BodyOpener {
  open(text: string, signal?: AbortSignal): Promise<string>;
}

/**
 * As it is, but for a message of SQS with a claim check of ours: it is never handed over in place of the body. Its envelope
 * must be believed, since whoever writes nothing but a body must not say what is read from the bucket.
 * @throws BodyUnavailableError (`BODY_UNAVAILABLE`); IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`) for an envelope that is not believed.
 */
export function openedRecord(
  { record, envelopeKey }: BatchItem,
  bodies: BodyOpener | undefined,
  signal: AbortSignal,
): unknown {
  const { body } = Object(record) as { body?: unknown };
  if (typeof body !== "string" || !findClaimCheck(body)) return record;
  if (bodies === undefined)
    throw new BodyUnavailableError("is in a bucket: give `bodies` to idempotentBatch");
  if (envelopeKey?.() === undefined) {
    throw new BodyUnavailableError(
      "is said to be in a bucket by a message without an envelope: it is not read",
    );
  }
  return bodies.open(body, signal).then((opened) => ({ ...(record as object), body: opened }));
}

/** The idempotency key that travels with a message. */
import { IdempotencyKeyInvalidError } from "../../core/errors.ts";
import type { EnvelopeReading } from "../../messaging/envelope.ts";

/**
 * `undefined` for a message without an envelope.
 * @throws IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`) for one that can't be read: under another key, the
 * operation might run again.
 */
export function envelopeKeyOf(reading: EnvelopeReading): string | undefined {
  if (reading.found) return reading.envelope.key;
  if (reading.reason === "absent") return undefined;
  throw new IdempotencyKeyInvalidError(`can't read the envelope of the message: ${reading.reason}`);
}

/** The errors of messages and batches: the last rows of docs/reference/errors.md. */
import { errorClass } from "../onceonly-error.ts";
import type { SendResult } from "./send-result.ts";

/**
 * A message's key, group or attempt is missing or unusable, or two messages of a batch share group and key. Nothing was sent.
 * Pass the business key: the ids of SQS are derived from it.
 */
export class MessageIdInvalidError extends /* @__PURE__ */ errorClass(
  "MessageIdInvalidError",
  "MESSAGE_ID_INVALID",
  false,
) {}

/** A package isn't installed: sending again can't help. */
const isMissingPackage = (cause: unknown): cause is Error =>
  cause instanceof Error && /MODULE_NOT_FOUND$/.test(`${(cause as { code?: unknown }).code}`);

/**
 * A destination did not accept some messages, or that is unknown. Send the same messages again. Within 5 minutes a FIFO
 * destination drops those that it has; later, and in other destinations, the consumer's idempotency does.
 */
export class SendFailedError extends /* @__PURE__ */ errorClass("SendFailedError", "SEND_FAILED", true) {
  /** The messages that were not sent; `id` is the position in the given list. */
  readonly failed: readonly { readonly id: string; readonly code: string }[];
  /** One for each given message, in that order. */
  readonly results: readonly SendResult[];

  constructor(results: readonly SendResult[], cause?: unknown) {
    const failed = Array.from(results).flatMap((result, index) =>
      result.sent ? [] : [{ id: String(index), code: result.code }],
    );
    const codes = [...new Set(failed.map(({ code }) => code))].join(", ");
    const advice = isMissingPackage(cause) ? cause.message : "send the same messages again";
    super(`could not send ${failed.length} of ${results.length} messages (${codes}): ${advice}`, { cause });
    this.failed = failed;
    this.results = results;
  }
}

/**
 * The body of a message is kept in a bucket, and can't be written to it or read from it: the object is gone, has different
 * content or is in another bucket, or `claimCheck` isn't set. The message is not run. `cause` is the client's error, if there
 * is one. Restore the object, fix the permissions, and redrive.
 */
export class BodyUnavailableError extends /* @__PURE__ */ errorClass(
  "BodyUnavailableError",
  "BODY_UNAVAILABLE",
  true,
) {
  constructor(why: string, cause?: unknown) {
    super(`the body of a message ${why}`, { cause });
  }
}

/**
 * Thrown so that all records of a batch are redelivered: none is done, or some aren't and Lambda isn't known to read which
 * (Kafka without `reportBatchItemFailures: true`). Records that are already done are skipped then. The message names the first
 * record that failed, and `onRecordError` received each error.
 */
export class BatchNotDoneError extends /* @__PURE__ */ errorClass(
  "BatchNotDoneError",
  "BATCH_NOT_DONE",
  true,
) {
  /** The batch response that would have been returned. */
  readonly batchItemFailures: readonly { readonly itemIdentifier: unknown }[];
  /** How many records were in progress elsewhere, which isn't a failure. */
  readonly inProgress: number;

  /** `first` names the first of the records, and `records` counts the whole batch. */
  constructor(
    batchItemFailures: readonly { readonly itemIdentifier: unknown }[],
    inProgress: number,
    first = "",
    records = batchItemFailures.length,
  ) {
    const done = records - batchItemFailures.length;
    const advice =
      done > 0
        ? ". To retry only the others, set ReportBatchItemFailures on the event source mapping and `reportBatchItemFailures: true` on idempotentBatch"
        : "";
    super(
      `${done} of ${records} records succeeded (${inProgress} in progress elsewhere)${first && `; the first failure is ${first}`}. The whole batch will be retried; \`onRecordError\` received each error${advice}`,
    );
    this.batchItemFailures = batchItemFailures;
    this.inProgress = inProgress;
  }
}

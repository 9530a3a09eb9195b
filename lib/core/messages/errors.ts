/** The errors of messages and batches: the last rows of docs/use/errors.md. */
import { errorClass } from "../onceonly-error.ts";
import type { SendResult } from "./send-result.ts";

/** A message or its group cannot be named by what was given; nothing was sent. */
export class MessageIdInvalidError extends /* @__PURE__ */ errorClass(
  "MessageIdInvalidError",
  "MESSAGE_ID_INVALID",
  false,
) {}

/** Messages were not accepted, or it's unknown whether they were. Send the same ones again: a FIFO destination ignores a second copy. */
export class SendFailedError extends /* @__PURE__ */ errorClass("SendFailedError", "SEND_FAILED", true) {
  /** The messages that were not sent; `id` is the position among those given. */
  readonly failed: readonly { readonly id: string; readonly code: string }[];
  /** For each message given, in that order. */
  readonly results: readonly SendResult[];

  constructor(results: readonly SendResult[], cause?: unknown) {
    const failed = Array.from(results).flatMap((result, index) =>
      result.sent ? [] : [{ id: String(index), code: result.code }],
    );
    const codes = [...new Set(failed.map(({ code }) => code))].join(", ");
    super(`could not send ${failed.length} of ${results.length} messages (${codes}): send the same again`, {
      cause,
    });
    this.failed = failed;
    this.results = results;
  }
}

/**
 * The body of a message is in a bucket, and cannot be kept there or had from there. The message is not run. `cause` is the
 * error of the client, where it has one.
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
 * Thrown so that all records of a batch come again: none of them is done, or some aren't and Lambda isn't known to read which.
 * Records that are done are skipped then.
 */
export class BatchNotDoneError extends /* @__PURE__ */ errorClass(
  "BatchNotDoneError",
  "BATCH_NOT_DONE",
  true,
) {
  /** What the answer would have been. */
  readonly batchItemFailures: readonly { readonly itemIdentifier: unknown }[];
  /** How many records were in progress elsewhere, which isn't an error of theirs. */
  readonly inProgress: number;

  /** `first` names the first of the records, and `records` counts all of the batch. */
  constructor(
    batchItemFailures: readonly { readonly itemIdentifier: unknown }[],
    inProgress: number,
    first = "",
    records = batchItemFailures.length,
  ) {
    const done = records - batchItemFailures.length;
    const what = done > 0 ? `only ${done} of ${records} records are` : `none of ${records} records is`;
    const advice =
      done > 0
        ? "; to return only the others, set ReportBatchItemFailures of the event source mapping, and `reportBatchItemFailures: true` of idempotentBatch"
        : "";
    super(
      `${what} done (${inProgress} in progress elsewhere)${first && `, beginning with ${first}`}: the batch has to come again; \`onRecordError\` was told of each error${advice}`,
    );
    this.batchItemFailures = batchItemFailures;
    this.inProgress = inProgress;
  }
}

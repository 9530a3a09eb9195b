/** A batch event as many operations: each record under the engine, and an answer that returns what is not done. */
import { refuseDurable } from "../../core/durable.ts";
import { BatchNotDoneError, InvalidOptionError } from "../../core/errors.ts";
import type { LambdaContext } from "../../core/lambda-context.ts";
import { type WithIdempotency, withExecution } from "../context.ts";
import type { BatchOptions } from "./batch-options.ts";
import { BatchRun } from "./batch-run.ts";
import { settingsOf } from "./batch-settings.ts";
import { type BatchResponse, type KafkaIdentifier, nameOf } from "./item.ts";
import { openedRecord } from "./opened-record.ts";
import { readEvent } from "./read-event.ts";

/** Handles one record of a batch. */
export type RecordHandler<Entry, Write = unknown> = (
  record: Entry,
  context: LambdaContext & WithIdempotency<Write>,
) => unknown;

/** What `idempotentBatch` makes: a Lambda handler for the events of Kafka, or of SQS, Kinesis and DynamoDB streams. */
export interface BatchHandler<Entry> {
  (
    event: { readonly records: { readonly [topicPartition: string]: readonly Entry[] } },
    context: LambdaContext,
  ): Promise<BatchResponse<KafkaIdentifier>>;
  (event: { readonly Records: readonly Entry[] }, context: LambdaContext): Promise<BatchResponse>;
}

/**
 * Makes a Lambda handler that runs `handler` once per operation, scope and key of each record, and returns the
 * records that are not done. The event source mapping must report batch item failures; without that, Lambda takes
 * every record for done, unless none is: then the batch throws. Kafka has that setting in provisioned mode only, so a batch of
 * Kafka throws for any record that isn't done, until you give `reportBatchItemFailures: true`.
 *
 * Messages of a standard queue run next to each other, each on its own. FIFO groups, shards and partitions are done
 * in order, each up to the first record that fails. That record and all behind it come back, and other groups go on.
 * A shard is only done so with a `ParallelizationFactor` of 1.
 *
 * A message in progress elsewhere comes back too, and can be hidden until then (`changeVisibility`). For a record of a
 * stream or Kafka, whose retries may be few, the batch waits, after all that can go on (`whenInProgress`).
 *
 * SQS counts a receive for all that is returned, also for what only waited behind a failure. A FIFO message that
 * fails until it reaches the dead-letter queue takes those along that were received with it. `whenFinalError` or a
 * batch size of 1 prevents that.
 *
 * The batch answers before the invocation times out. What the handler still does then is neither done nor failed:
 * heed `context.idempotency.signal`. The result of the handler is not stored, since nobody reads it: the result may
 * be anything. What the handler commits is stored.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) at once. On events that are no batch, PayloadInvalidError
 * (`PAYLOAD_INVALID`). When no record is done, or one isn't and the mapping isn't known to read which, BatchNotDoneError
 * (`BATCH_NOT_DONE`), also where all of them are in progress elsewhere. The error of a record is never thrown: it's passed to `onRecordError`.
 */
export function idempotentBatch<Entry = unknown, Write = unknown>(
  handler: RecordHandler<Entry, Write>,
  options: BatchOptions<Entry, Write>,
): BatchHandler<Entry> {
  const settings = settingsOf(options);
  if (typeof handler !== "function" || handler.length > 2)
    throw new InvalidOptionError(
      "handler",
      "must be a function of a record and the context, without a callback",
      handler,
    );
  return async function batchHandler(event: unknown, context: LambdaContext) {
    refuseDurable("handler", event, context);
    const run = new BatchRun(settings, context, (item) => (execution) => {
      const run = (record: unknown) => handler(record as Entry, withExecution(context, execution));
      const record = openedRecord(item, settings.bodies, execution.signal);
      return record instanceof Promise ? record.then(run) : run(record);
    });
    const lanes = readEvent(event, settings.forwardedBy);
    const { left, inProgress } = await run.run(lanes);
    // Which kind of identifier it is depends on the event, as the signatures say.
    const batchItemFailures = left.map(({ identifier }) => ({ itemIdentifier: identifier as never }));
    const [first] = left;
    const records = lanes.flat().length;
    // A mapping that doesn't read the answer takes it for success, and the records that failed would be gone. Whether it reads
    // the answer isn't in the event. Throwing is always understood.
    const isRead = settings.reportBatchItemFailures ?? typeof first?.identifier === "string";
    if (first && (!isRead || left.length === records)) {
      throw new BatchNotDoneError(batchItemFailures, inProgress, nameOf(first), records);
    }
    return { batchItemFailures };
  };
}

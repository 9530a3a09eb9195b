/** Treats a batch event as many operations: runs each record under the engine, and returns the records that aren't done. */
import { refuseDurable } from "../../core/durable.ts";
import { BatchNotDoneError, InvalidOptionError } from "../../core/errors.ts";
import type { LambdaContext } from "../../core/lambda-context.ts";
import { type WithIdempotency, withExecution } from "../context.ts";
import { named } from "../wrapper.ts";
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

/**
 * The result of `idempotentBatch`: a Lambda handler for events from SQS, Kinesis, DynamoDB streams, Kafka, ActiveMQ and RabbitMQ,
 * and for the arrays of EventBridge Pipes and custom event buses.
 */
export interface BatchHandler<Entry> {
  (event: readonly Entry[], context: LambdaContext): Promise<BatchResponse>;
  (
    event: { readonly records: { readonly [topicPartition: string]: readonly Entry[] } },
    context: LambdaContext,
  ): Promise<BatchResponse<KafkaIdentifier>>;
  (event: { readonly messages: readonly Entry[] }, context: LambdaContext): Promise<BatchResponse>;
  (
    event: { readonly rmqMessagesByQueue: { readonly [queue: string]: readonly Entry[] } },
    context: LambdaContext,
  ): Promise<BatchResponse>;
  (event: { readonly Records: readonly Entry[] }, context: LambdaContext): Promise<BatchResponse>;
}

/**
 * Makes a Lambda handler that runs `handler` once per operation, scope and key of each record, and returns the records
 * that aren't done. The event source mapping must report batch item failures. Without that, Lambda treats every record as
 * done, unless none is: then the batch throws. Kafka has that setting in provisioned mode only, so a Kafka batch throws
 * if any record isn't done, until you set `reportBatchItemFailures: true`. Amazon MQ doesn't have it, so its batch throws.
 *
 * A function that is the target of an EventBridge pipe gets an array of records, and returns the failed ones by the ids that
 * pipes read; a Kafka batch throws, because a pipe retries it as a whole. Don't use it as the enrichment of a pipe, whose
 * response is the new payload: use `idempotentEach`. The array of a custom event bus also throws if any event isn't done.
 *
 * Messages of a standard queue and of Amazon MQ run in parallel. FIFO groups, shards and partitions run in order, up to
 * the first record that fails. That record and all after it come back, and other groups go on. A shard keeps its order
 * only with a `ParallelizationFactor` of 1.
 *
 * A message in progress elsewhere also comes back, and can be hidden until then (`changeVisibility`). Streams and Kafka
 * may allow few retries, so the batch waits for such a record, after those that can go on (`whenInProgress`).
 *
 * SQS counts a receive for every returned message, even if it only waited for one that failed. A FIFO message that fails
 * until it reaches the dead-letter queue takes along the messages received with it. `whenFinalError` or a batch size of 1
 * prevents that.
 *
 * The batch returns before the invocation times out. Work that the handler still does then counts neither as done nor as
 * failed, so observe `context.idempotency.signal`. The handler may return anything: its result isn't used or stored. What
 * the handler commits is stored.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately. PayloadInvalidError (`PAYLOAD_INVALID`) on events that
 * aren't a batch. BatchNotDoneError (`BATCH_NOT_DONE`) if no record is done, even if all are in progress elsewhere, or if
 * one isn't and the mapping isn't known to read which. A record's error is never thrown: it's passed to `onRecordError`.
 */
export function idempotentBatch<Entry = unknown, Write = unknown>(
  handler: RecordHandler<Entry, Write>,
  options: BatchOptions<Entry, Write>,
): BatchHandler<Entry> {
  const settings = settingsOf(options);
  if (typeof handler !== "function" || handler.length > 2)
    throw new InvalidOptionError(
      "handler",
      "must be a function of a record and the context, and must not use a callback",
      handler,
    );
  return named(options, async (event: unknown, context: LambdaContext) => {
    refuseDurable("handler", event, context);
    const run = new BatchRun(settings, context, (item) => (execution) => {
      const run = (record: unknown) => handler(record as Entry, withExecution(context, execution));
      const record = openedRecord(item, settings.claimCheck, execution.signal);
      return record instanceof Promise ? record.then(run) : run(record);
    });
    const { lanes, readsFailures } = readEvent(event, settings);
    const { left, inProgress } = await run.run(lanes);
    // A message with several records may have failed more than once. The event decides the kind of identifier, as the
    // signatures say.
    const failed = [...new Set(left.map(({ identifier }) => identifier))];
    const batchItemFailures = failed.map((identifier) => ({ itemIdentifier: identifier as never }));
    const [first] = left;
    const records = new Set(lanes.flat().map(({ identifier }) => identifier)).size;
    // A mapping that doesn't read the response treats it as success, which would lose the failed records. Throwing
    // always works.
    if (first && (!readsFailures || failed.length === records)) {
      throw new BatchNotDoneError(batchItemFailures, inProgress, nameOf(first), records);
    }
    return { batchItemFailures };
  });
}

/** A dispatcher: starts one durable execution per key, for any event source. */
import { remainingMsOf } from "../core/clock.ts";
import { BatchNotDoneError } from "../core/errors.ts";
import type { LambdaContext } from "../core/lambda-context.ts";
import { type BatchItem, type BatchResponse, nameOf } from "../lambda/batch/item.ts";
import { readEvent } from "../lambda/batch/read-event.ts";
import { runLanes } from "../lambda/batch/run-lanes.ts";
import type { HttpResponse } from "../lambda/http/response.ts";
import { named } from "../lambda/wrapper.ts";
import { startExecution } from "./start-execution.ts";
import {
  type StartedExecution,
  type StartOnceOptions,
  type StartSettings,
  startSettings,
} from "./start-options.ts";
import { isBatch, isHttp, ofEvent, ofItem, startOf } from "./started-event.ts";
import { respondTo } from "./started-response.ts";

/** A batch gets its failed records, an HTTP request a response, and any other event its execution. */
export type StartOnceHandler = (
  event: unknown,
  context: LambdaContext,
) => Promise<BatchResponse | HttpResponse | StartedExecution>;

/**
 * A Lambda handler that starts one durable execution per operation, scope and key. Put it between an event source and a durable
 * function, because an event source mapping starts an execution for each delivery, and ends it after 15 minutes.
 *
 * It reads SQS (standard and FIFO), Kinesis, DynamoDB streams and Kafka, also through a pipe, SNS, EventBridge (also the arrays
 * of custom event buses), HTTP, and, with `key`, any other event. The
 * execution's name is made of the key, so Lambda starts it once and returns it to every later delivery, for as long as the
 * function's `RetentionPeriodInDays` after its end. An execution that failed isn't started again either. A delivery whose payload
 * differs is refused: a record comes back, an HTTP request gets 422.
 *
 * A batch returns the records that weren't started, and a FIFO group or a shard stops at its first one. The starts of a group are
 * in order, and their executions run side by side. HTTP requests get 202 (`address`, `waitSeconds`).
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately. On events: BatchNotDoneError (`BATCH_NOT_DONE`) if no record was
 * started; for single events IdempotencyKeyMissingError (`IDEMPOTENCY_KEY_MISSING`), IdempotencyKeyInvalidError
 * (`IDEMPOTENCY_KEY_INVALID`), FingerprintMismatchError (`FINGERPRINT_MISMATCH`), PayloadInvalidError (`PAYLOAD_INVALID`), and the
 * client's errors.
 */
export function startOnce<Entry = unknown>(options: StartOnceOptions<Entry>): StartOnceHandler {
  const settings = startSettings(options as StartOnceOptions<never>);
  return named(options, async (event, context) => {
    if (isBatch(event)) return startBatch(settings, event, context);
    const start = async () => startExecution(settings, startOf(settings, ofEvent(event, settings), context));
    return isHttp(Object(event)) ? respondTo(event, context, settings, start) : start();
  });
}

/** Time to answer. */
const MARGIN_MS = 2000;

async function startBatch(
  settings: StartSettings,
  event: unknown,
  context: LambdaContext,
): Promise<BatchResponse> {
  const { clock, concurrency, onRecordError = logOf(settings) } = settings;
  const { lanes, readsFailures } = readEvent(event, settings);
  const endsAt = clock.now() + (remainingMsOf(context) ?? Number.POSITIVE_INFINITY) - MARGIN_MS;
  const started = new Set<BatchItem>();
  await runLanes(
    lanes,
    concurrency,
    () => clock.now() < endsAt,
    async (item) => {
      try {
        await startExecution(settings, startOf(settings, ofItem(item), context));
        started.add(item);
        return "done";
      } catch (error) {
        reportTo(onRecordError, error, item);
        return "stop";
      }
    },
  );
  const left = lanes.flat().filter((item) => !started.has(item));
  const batchItemFailures = left.map(({ identifier }) => ({ itemIdentifier: identifier as never }));
  const [first] = left;
  const records = lanes.flat().length;
  // A mapping that doesn't read the response treats it as success.
  if (first && (!readsFailures || left.length === records))
    throw new BatchNotDoneError(batchItemFailures, 0, nameOf(first), records);
  return { batchItemFailures };
}

type OnRecordError = NonNullable<StartSettings["onRecordError"]>;

function reportTo(onRecordError: OnRecordError, error: unknown, item: BatchItem): void {
  try {
    onRecordError(error, item.record);
  } catch {
    // An observer doesn't change an outcome.
  }
}

/** Without the record's content. */
const logOf =
  ({ operation }: StartSettings): OnRecordError =>
  (error) =>
    console.error(`onceonly: a record wasn't started (operation "${operation}"):`, error);

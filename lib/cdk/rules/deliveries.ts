// Warns about event sources that lose messages, or deliver them in a way that their consumer can't handle.
import { type App, objectIn, ownerPath, QUEUE, type Report, type Resource, TABLES, valueIn } from "./app.ts";
import { type Reader, readersFrom, readersInto, reportsFailures } from "./event-sources.ts";
import { findDroppedEvents, findUnusableKey } from "./events.ts";
import { settingsOf } from "./queue-settings.ts";
import { findRetries, type Warn } from "./retries.ts";
import { subscribersIn } from "./windows/event-bridge.ts";
import { numberIn } from "./windows/hop.ts";
import { isInvokedAsynchronously } from "./windows/hops.ts";

export function findDeliveries(
  app: App,
  fn: Resource,
  timeoutSeconds: number | undefined,
  report: Report,
): void {
  const warn: Warn = (rule, text) => report("warned", rule, fn, text);
  const concurrency = numberIn(app.propertiesOf(fn).ReservedConcurrentExecutions);
  if (concurrency === 0) {
    warn("no-concurrency", `reservedConcurrentExecutions of ${ownerPath(fn)} is 0, so it never runs`);
  }
  findRetries(app, fn, timeoutSeconds, warn);
  warnOfUnusedDeadLetters(app, fn, warn);
  noteSubscribers(app, fn, report);
  const queues = readersInto(app, fn).flatMap(({ source }) => source ?? []);
  findDroppedEvents(app, [fn, ...queues], warn);
  for (const queue of queues) findUnusableKey(app, queue, report);
  for (const reader of readersInto(app, fn)) warnOfReader(app, fn, reader, timeoutSeconds, warn);
}

function warnOfReader(
  app: App,
  fn: Resource,
  reader: Reader,
  timeoutSeconds: number | undefined,
  warn: Warn,
): void {
  const { source } = reader;
  const path = ownerPath(fn);
  const queue = source?.cfnResourceType === QUEUE ? source : undefined;
  const from = queue ? ownerPath(queue) : reader.path;
  if (readsPartly(reader) && !isOfOne(reader)) warnOfUnread(reader, from, path, warn);
  if (reader.forgotten.includes(fn) && !isOfOne(reader)) {
    warn(
      "no-batch-failures",
      `${reader.path} doesn't wait for the response of ${path} (FIRE_AND_FORGET), so the records of a batch that it reports as failed are lost: set REQUEST_RESPONSE, or reportBatchItemFailures: false in idempotentBatch, which then throws`,
    );
  }
  warnOfThrottling(app, fn, reader, from, warn);
  warnOfDropped(reader, from, warn);
  if (source && TABLES.includes(source.cfnResourceType)) warnOfReaders(app, path, source, warn);
  if (queue) warnOfQueue(app, path, queue, reader, timeoutSeconds, warn);
}

/**
 * Queue mode is Kafka's share groups: the broker redelivers a record a few times, and then drops it.
 * https://docs.aws.amazon.com/lambda/latest/dg/polling-kafka-queue.html
 */
function warnOfDropped(reader: Reader, from: string, warn: Warn): void {
  const { settings } = reader;
  if ((settings.DestinationConfig ?? settings.DeadLetterConfig) !== undefined) return;
  const retries = numberIn(settings.MaximumRetryAttempts) ?? -1;
  if (readsShares(reader)) {
    warn(
      "dropped-records",
      `${from} reads Kafka in queue mode without an onFailure destination: the broker drops a record after a few deliveries (group.share.delivery.count.limit). Give it an onFailure destination, and retryAttempts, which is 0 by default in this mode`,
    );
  } else if (retries >= 0) {
    warn(
      "dropped-records",
      `${from} drops the records of a batch after ${retries} retries: give it an onFailure destination, or leave retryAttempts out`,
    );
  }
}

/**
 * A subscriber's batch comes as an array. A retry may bring its events in other batches, so one key can't cover them. Only the
 * handler's code shows whether it reads them one by one.
 */
function noteSubscribers(app: App, fn: Resource, report: Report): void {
  for (const { subscriber, targets, events } of subscribersIn(app)) {
    if (!targets.includes(fn) || !(events > 1)) continue;
    report(
      "noted",
      "batched-events",
      fn,
      `${ownerPath(subscriber)} passes up to ${events} events to ${ownerPath(fn)} at once, as an array, which isn't one operation: use idempotentBatch, or set MaxBatchSize to 1 for a handler of single events`,
    );
  }
}

/** Warns about a source that makes more concurrent invocations than the function's reserved concurrency allows. */
function warnOfThrottling(app: App, fn: Resource, { settings }: Reader, from: string, warn: Warn): void {
  const path = ownerPath(fn);
  const concurrency = numberIn(app.propertiesOf(fn).ReservedConcurrentExecutions);
  if (!concurrency) return;
  const most = numberIn(valueIn(settings, "ScalingConfig", "MaximumConcurrency"));
  if (most !== undefined && most > concurrency) {
    warn(
      "throttled-source",
      `${from} feeds ${path} with up to ${most} concurrent invocations, but reservedConcurrentExecutions is ${concurrency}: throttled receives count towards maxReceiveCount. Lower maxConcurrency`,
    );
  }
  const pollers = numberIn(valueIn(settings, "ProvisionedPollerConfig", "MaximumPollers"));
  if (pollers !== undefined && pollers > concurrency) {
    warn(
      "throttled-source",
      `${from} feeds ${path} from up to ${pollers} provisioned pollers, each with at least one invocation at a time, but reservedConcurrentExecutions is ${concurrency}: the rest are throttled. Lower maximumPollers`,
    );
  }
}

/** Lambda only sends asynchronous invocations to this dead-letter queue. */
function warnOfUnusedDeadLetters(app: App, fn: Resource, warn: Warn): void {
  if (app.propertiesOf(fn).DeadLetterConfig === undefined || isInvokedAsynchronously(app, fn)) return;
  for (const { source } of readersInto(app, fn)) {
    if (source?.cfnResourceType !== QUEUE || settingsOf(app, source).redrive) continue;
    warn(
      "unused-dead-letters",
      `${ownerPath(fn)} has a dead-letter queue and consumes ${ownerPath(source)}, which has none: Lambda doesn't move queue messages there, so a message that always fails is lost. Add the dead-letter queue to ${ownerPath(source)}`,
    );
  }
}

/**
 * How a partly failed batch is handled. For Kafka, Lambda reads the response in provisioned mode only.
 * https://docs.aws.amazon.com/lambda/latest/dg/kafka-retry-configurations.html
 */
function warnOfUnread(reader: Reader, from: string, path: string, warn: Warn): void {
  const isRead = reportsFailures(reader);
  const isProvisioned = reader.settings.ProvisionedPollerConfig !== undefined;
  if (!isKafka(reader)) {
    if (isRead) return;
    warn(
      "no-batch-failures",
      `${from} feeds ${path} without ReportBatchItemFailures: Lambda treats any response as success of the whole batch, so the records that it reports as failed are lost. Set reportBatchItemFailures`,
    );
  } else if (!isRead) {
    warn(
      "no-batch-failures",
      `${from} feeds ${path} without ReportBatchItemFailures: idempotentBatch throws if a record fails, and Lambda delivers the whole batch again; any other handler's response counts as success, so the records that it reports as failed are lost. Set provisionedPollerConfig and reportBatchItemFailures, and reportBatchItemFailures: true in idempotentBatch`,
    );
  } else if (!isProvisioned) {
    warn(
      "not-provisioned",
      `${from} feeds ${path} with ReportBatchItemFailures, which Lambda only supports for Kafka in provisioned mode: set provisionedPollerConfig`,
    );
  }
}

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html */
const MAX_STREAM_READERS = 2;

function warnOfReaders(app: App, path: string, table: Resource, warn: Warn): void {
  const { length } = readersFrom(app, table);
  if (length <= MAX_STREAM_READERS) return;
  warn(
    "stream-readers",
    `${length} functions read the stream of ${ownerPath(table)}, ${path} among them: DynamoDB throttles more than ${MAX_STREAM_READERS} readers per shard, and an OutboxRelay counts as one. Have one function read the stream and pass the changes on`,
  );
}

function warnOfQueue(
  app: App,
  consumer: string,
  queue: Resource,
  reader: Reader,
  timeoutSeconds: number | undefined,
  warn: Warn,
): void {
  const path = ownerPath(queue);
  const { hidden, kept, isFifo, redrive } = settingsOf(app, queue);
  const window = numberIn(reader.settings.MaximumBatchingWindowInSeconds) ?? 0;
  if (window > 0 && timeoutSeconds !== undefined && hidden < timeoutSeconds + window) {
    warn(
      "batching-window",
      `visibility timeout ${hidden} s of ${path} < timeout ${timeoutSeconds} s of ${consumer} + batching window ${window} s: messages are delivered again while they're being handled. Make it longer`,
    );
  }
  const others = readersFrom(app, queue).length - 1;
  if (others > 0) {
    warn(
      "shared-queue",
      `${path} feeds ${consumer} and ${others} more: each message reaches only one of them. Give each consumer its own queue, and have a topic feed them`,
    );
  }
  if (!redrive) {
    if (isFifo) {
      warn(
        "no-dead-letters",
        `${path} is a FIFO queue without a dead-letter queue: a message that always fails blocks its group for ${kept} s and is then lost. Add a dead-letter queue`,
      );
    }
    return;
  }
  const { receives } = redrive;
  if (receives === 1) {
    warn(
      "one-receive",
      `maxReceiveCount of ${path} is 1: a single throttled or killed invocation sends a message to the dead-letter queue. Make it 3 or more`,
    );
  }
  if (hidden * receives > kept) {
    warn(
      "lost-before-dead-letters",
      `visibility timeout ${hidden} s × ${receives} receives > ${kept} s, the retention of ${path}: SQS deletes a message that always fails before it reaches the dead-letter queue. Keep messages longer`,
    );
  }
  const deadLetters = app.targetIn(redrive.deadLetters, QUEUE);
  // In a FIFO dead-letter queue, a message's age starts again.
  if (!deadLetters || isFifo) return;
  const parked = settingsOf(app, deadLetters).kept;
  if (parked <= kept) {
    warn(
      "short-dead-letters",
      `${ownerPath(deadLetters)} keeps messages for ${parked} s, no longer than ${path} (${kept} s): a message's age counts from when it was first sent, so dead letters may be deleted as soon as they arrive. Keep them longer`,
    );
  }
}

const readsShares = ({ settings }: Reader) =>
  valueIn(objectIn(settings.SelfManagedKafkaEventSourceConfig), "ConsumptionMode") === "Queue";

const isKafka = ({ settings }: Reader) => settings.Topics !== undefined;

/** Settings of Amazon MQ brokers and DocumentDB. */
const WHOLE = ["Queues", "DocumentDBEventSourceConfig"];

/** Whether Lambda can read which records failed. A pipe always does. */
const readsPartly = ({ isPipe, settings }: Reader) =>
  !isPipe && WHOLE.every((name) => settings[name] === undefined);

/** A batch of one fails or succeeds as a whole, so it's enough that the handler throws. */
const isOfOne = ({ settings }: Reader) => numberIn(settings.BatchSize) === 1;

// Warns of event sources that lose messages, or that deliver them in a way which their consumer cannot stand.
import { type App, ownerPath, QUEUE, type Report, type Resource, TABLES, valueIn } from "./app.ts";
import { type Reader, readersFrom, readersInto, reportsFailures } from "./event-sources.ts";
import { findDroppedEvents, findUnusableKey } from "./events.ts";
import { settingsOf } from "./queue-settings.ts";
import { findRetries, type Warn } from "./retries.ts";
import { numberIn } from "./windows/hop.ts";
import { isInvokedAsynchronously } from "./windows/hops.ts";

export function findDeliveries(
  app: App,
  fn: Resource,
  timeoutSeconds: number | undefined,
  report: Report,
): void {
  const warn: Warn = (rule, text) => report("warned", rule, fn, text);
  const path = ownerPath(fn);
  const concurrency = numberIn(app.propertiesOf(fn).ReservedConcurrentExecutions);
  if (concurrency === 0) {
    warn("no-concurrency", `reservedConcurrentExecutions of ${path} is 0: no event reaches it`);
  }
  findRetries(app, fn, timeoutSeconds, warn);
  warnOfUnusedDeadLetters(app, fn, warn);
  const queues = readersInto(app, fn).flatMap(({ source }) => source ?? []);
  findDroppedEvents(app, [fn, ...queues], warn);
  for (const queue of queues) findUnusableKey(app, queue, report);
  for (const reader of readersInto(app, fn)) {
    const { source, settings } = reader;
    const queue = source?.cfnResourceType === QUEUE ? source : undefined;
    const from = queue ? ownerPath(queue) : reader.path;
    if (readsPartly(reader) && !isOfOne(reader)) warnOfUnread(reader, from, path, warn);
    const most = numberIn(valueIn(settings, "ScalingConfig", "MaximumConcurrency"));
    if (concurrency && most !== undefined && most > concurrency) {
      warn(
        "throttled-source",
        `${from} feeds ${path} by up to ${most} invocations at once, and reservedConcurrentExecutions is ${concurrency}: throttled receives count against maxReceiveCount. Lower maxConcurrency`,
      );
    }
    const pollers = numberIn(valueIn(settings, "ProvisionedPollerConfig", "MaximumPollers"));
    if (concurrency && pollers !== undefined && pollers > concurrency) {
      warn(
        "throttled-source",
        `${from} feeds ${path} by up to ${pollers} provisioned pollers, each of which invokes it at least once at a time, and reservedConcurrentExecutions is ${concurrency}: what is above is throttled. Lower maximumPollers`,
      );
    }
    const retries = numberIn(settings.MaximumRetryAttempts) ?? -1;
    if (retries >= 0 && (settings.DestinationConfig ?? settings.DeadLetterConfig) === undefined) {
      warn(
        "dropped-records",
        `${from} gives up a batch after ${retries} retries and drops its records: give it an onFailure destination, or no retryAttempts`,
      );
    }
    if (source && TABLES.includes(source.cfnResourceType)) warnOfReaders(app, path, source, warn);
    if (queue) warnOfQueue(app, path, queue, reader, timeoutSeconds, warn);
  }
}

/** Lambda puts only asynchronous invocations there. */
function warnOfUnusedDeadLetters(app: App, fn: Resource, warn: Warn): void {
  if (app.propertiesOf(fn).DeadLetterConfig === undefined || isInvokedAsynchronously(app, fn)) return;
  for (const { source } of readersInto(app, fn)) {
    if (source?.cfnResourceType !== QUEUE || settingsOf(app, source).redrive) continue;
    warn(
      "unused-dead-letters",
      `${ownerPath(fn)} has a dead-letter queue and consumes ${ownerPath(source)}, which has none: Lambda puts no message of a queue there, so that a message that always fails is lost. Give ${ownerPath(source)} the dead-letter queue`,
    );
  }
}

/**
 * What becomes of a partly failed batch. Kafka's answer is read in provisioned mode only.
 * https://docs.aws.amazon.com/lambda/latest/dg/kafka-retry-configurations.html
 */
function warnOfUnread(reader: Reader, from: string, path: string, warn: Warn): void {
  const isRead = reportsFailures(reader);
  const isProvisioned = reader.settings.ProvisionedPollerConfig !== undefined;
  if (!isKafka(reader)) {
    if (isRead) return;
    warn(
      "no-batch-failures",
      `${from} feeds ${path} without ReportBatchItemFailures: Lambda takes an answer for the success of the whole batch, and loses the records that it names as failed. Set reportBatchItemFailures`,
    );
  } else if (!isRead) {
    warn(
      "no-batch-failures",
      `${from} feeds ${path} without ReportBatchItemFailures: idempotentBatch throws for a failed record, and Lambda delivers the whole batch again; another handler's answer is taken for success, and loses the records that it names as failed. Set provisionedPollerConfig and reportBatchItemFailures, and reportBatchItemFailures: true of idempotentBatch`,
    );
  } else if (!isProvisioned) {
    warn(
      "not-provisioned",
      `${from} feeds ${path} with ReportBatchItemFailures, which Lambda offers for Kafka in provisioned mode only: set provisionedPollerConfig`,
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
    `${length} functions read the stream of ${ownerPath(table)}, ${path} among them: DynamoDB throttles more than ${MAX_STREAM_READERS} of a shard, an OutboxRelay too. Feed one function, which passes the changes on`,
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
      `visibility timeout ${hidden} s of ${path} < timeout ${timeoutSeconds} s of ${consumer} + batching window ${window} s: messages come again while they are handled. Make it longer`,
    );
  }
  const others = readersFrom(app, queue).length - 1;
  if (others > 0) {
    warn(
      "shared-queue",
      `${path} feeds ${consumer} and ${others} more: each message reaches one of them. Give each consumer a queue of its own, behind a topic`,
    );
  }
  if (!redrive) {
    if (isFifo) {
      warn(
        "no-dead-letters",
        `${path} is a FIFO queue without a dead-letter queue: a message that always fails holds up its group for ${kept} s and is then lost`,
      );
    }
    return;
  }
  const { receives } = redrive;
  if (receives === 1) {
    warn(
      "one-receive",
      `maxReceiveCount of ${path} is 1: one throttled or killed invocation parks a message. Make it 3 or more`,
    );
  }
  if (hidden * receives > kept) {
    warn(
      "lost-before-dead-letters",
      `visibility timeout ${hidden} s × ${receives} receives > ${kept} s, for which ${path} keeps messages: SQS deletes a message that always fails before it is a dead letter. Keep them longer`,
    );
  }
  const deadLetters = app.targetIn(redrive.deadLetters, QUEUE);
  // The age of a message in a FIFO dead-letter queue begins anew.
  if (!deadLetters || isFifo) return;
  const parked = settingsOf(app, deadLetters).kept;
  if (parked <= kept) {
    warn(
      "short-dead-letters",
      `${ownerPath(deadLetters)} keeps messages for ${parked} s, and ${path} for ${kept} s: their age counts from the first queue on, so parked messages may be deleted at once. Keep them longer`,
    );
  }
}

const isKafka = ({ settings }: Reader) => settings.Topics !== undefined;

/** Brokers of Amazon MQ, and DocumentDB. */
const WHOLE = ["Queues", "DocumentDBEventSourceConfig"];

/** Whether Lambda can read which records failed. A pipe always does. */
const readsPartly = ({ isPipe, settings }: Reader) =>
  !isPipe && WHOLE.every((name) => settings[name] === undefined);

/** A batch of one fails or succeeds as a whole; a handler that throws is enough. */
const isOfOne = ({ settings }: Reader) => numberIn(settings.BatchSize) === 1;

/** Recognises a batch event's source, and refuses events that it couldn't respond to. */
import { EVENT_SOURCES, type EventSource, findEventSource } from "../../contract.ts";
import { PayloadInvalidError } from "../../core/errors.ts";
import { isBusEvent } from "./bus-event.ts";
import { eventBusLanes } from "./event-bus-source.ts";
import type { Forwarders } from "./forwarders.ts";
import type { BatchItem, Lane } from "./item.ts";
import { kafkaLanes, pipedKafkaLanes } from "./kafka-source.ts";
import { activeMqLanes, rabbitMqLanes } from "./mq-source.ts";
import type { S3Key } from "./s3-changes.ts";
import { sqsLanes } from "./sqs-source.ts";
import { pipedStreamLanes, streamLanes } from "./stream-source.ts";

type LanesOf = (records: never, trustedForwarders?: Forwarders) => readonly Lane[];

/** For the `Records` of an event source mapping. */
const MAPPED_LANES: Readonly<Partial<Record<EventSource, LanesOf>>> = {
  SQS: sqsLanes,
  Kinesis: streamLanes,
  "DynamoDB streams": streamLanes,
};

/** For events of a mapping that have no `Records`. */
const NAMED_LANES: Readonly<Partial<Record<EventSource, LanesOf>>> = {
  Kafka: kafkaLanes,
  ActiveMQ: activeMqLanes,
  RabbitMQ: rabbitMqLanes,
};

/** For the arrays that pipes and subscribers of custom event buses pass to a function. */
const ARRAY_LANES: Readonly<Partial<Record<EventSource, LanesOf>>> = {
  SQS: sqsLanes,
  Kinesis: pipedStreamLanes,
  "DynamoDB streams": pipedStreamLanes,
  Kafka: pipedKafkaLanes,
  "EventBridge custom buses": eventBusLanes,
};

const SOURCE_NAMES = Object.keys(EVENT_SOURCES);
/** The sources, as listed in a sentence. */
export const SOURCE_LIST = `${SOURCE_NAMES.slice(0, -1).join(", ")} and ${SOURCE_NAMES.at(-1)}`;

/** The options that decide how an event is read. */
interface EventReading {
  readonly trustedForwarders?: Forwarders | undefined;
  readonly reportBatchItemFailures?: boolean | undefined;
  /** Splits a record that carries several operations. */
  readonly partsOf?: S3Key["partsOf"] | undefined;
}

interface BatchEvent {
  readonly lanes: readonly Lane[];
  /** Whether the sender reads which records failed. If not, they'd be lost unless the batch throws. */
  readonly readsFailures: boolean;
}

/** @throws PayloadInvalidError (`PAYLOAD_INVALID`) for an event that isn't a batch, or has records without identifiers. */
export function readEvent(event: unknown, reading: EventReading): BatchEvent {
  const { partsOf } = reading;
  const whole = Array.isArray(event) ? readArray(event, reading) : readObject(event, reading);
  const lanes = partsOf ? whole.lanes.flatMap((lane) => splitLane(lane, partsOf)) : whole.lanes;
  const read = { ...whole, lanes };
  // Lambda treats an unknown or empty identifier as the failure of the whole batch.
  if (read.lanes.flat().every(hasIdentifier)) return read;
  throw new PayloadInvalidError("the event contains records without an identifier");
}

/** Whether `readEvent` would read an array. */
export function isBatchArray(event: unknown): event is readonly unknown[] {
  return Array.isArray(event) && event.length > 0 && sourceOfAll(event) !== undefined;
}

/** A single record, as a batch would read it; `undefined` for anything else. */
export function itemOfRecord(record: unknown): BatchItem | undefined {
  const source = sourceOfRecord(record);
  return source && ARRAY_LANES[source]?.([record] as never).flat()[0];
}

/** The parts of an unordered message don't wait for each other. */
function splitLane(lane: Lane, partsOf: S3Key["partsOf"]): readonly Lane[] {
  const items = lane.flatMap((item) => splitItem(item, partsOf));
  return lane.length === 1 ? items.map((item) => [item]) : [items];
}

function splitItem(item: BatchItem, partsOf: S3Key["partsOf"]): readonly BatchItem[] {
  try {
    return partsOf(item.record).map((record) => ({ ...item, record }));
  } catch {
    // Reading its key throws the same error, for this record only.
    return [item];
  }
}

/** An event that S3 or SNS sent to the function itself. */
function invocationLanes(records: readonly unknown[]): Lane[] {
  return records.map((record, index) => [
    { record, identifier: `${index}`, body: record, ownKey: "", isOwnKeyFallback: false },
  ]);
}

/** Of events without `Records`. */
function namedSourceOf(event: unknown): EventSource | undefined {
  const { records, eventSource, messages, rmqMessagesByQueue } = Object(event);
  if (isByList(records)) return "Kafka";
  if (eventSource === "aws:mq" && Array.isArray(messages)) return "ActiveMQ";
  return eventSource === "aws:rmq" && isByList(rmqMessagesByQueue) ? "RabbitMQ" : undefined;
}

function readObject(
  event: unknown,
  { trustedForwarders, reportBatchItemFailures, partsOf }: EventReading,
): BatchEvent {
  const { Records, window, isFinalInvokeForWindow } = Object(event) as Readonly<Record<string, unknown>>;
  // An event doesn't say whether its mapping reports failures: only the user knows.
  const readBy = (lanesOf: LanesOf | undefined, source: EventSource, records: unknown): BatchEvent => {
    if (lanesOf === undefined) throw notABatch(event);
    const { reportsFailures } = EVENT_SOURCES[source];
    const readsFailures = reportsFailures !== "never" && (reportBatchItemFailures ?? reportsFailures);
    return { lanes: lanesOf(records as never, trustedForwarders), readsFailures };
  };
  const named = namedSourceOf(event);
  if (named) return readBy(NAMED_LANES[named], named, event);
  if (!Array.isArray(Records)) throw notABatch(event);
  if ((window ?? isFinalInvokeForWindow) !== undefined) {
    // Lambda treats a response without `state` as a failure, and delivers the window again until the records expire.
    throw new PayloadInvalidError(
      "the event is part of a tumbling window, whose response must contain the window's `state`: remove `tumblingWindow` from the event source mapping, or aggregate in a handler without idempotentBatch",
    );
  }
  if (Records.length === 0) return { lanes: [], readsFailures: true };
  const { eventSource, EventSource } = Object(Records[0]);
  if (partsOf && (eventSource === "aws:s3" || EventSource === "aws:sns"))
    return { lanes: invocationLanes(Records), readsFailures: false };
  const source = findEventSource(eventSource);
  if (source === undefined) throw notABatch(event);
  return readBy(MAPPED_LANES[source], source, Records);
}

/**
 * The sender always reads the failures of a source that can report them, and never those of the others: a pipe retries a Kafka
 * batch as a whole, and a subscriber may not even wait for the response. So the option can only turn it off.
 */
function readArray(
  records: readonly unknown[],
  { trustedForwarders, reportBatchItemFailures = true }: EventReading,
): BatchEvent {
  if (records.length === 0) return { lanes: [], readsFailures: true };
  const source = sourceOfAll(records);
  const lanesOf = source && ARRAY_LANES[source];
  if (lanesOf === undefined) {
    throw new PayloadInvalidError(
      "the event is an array whose items aren't all records of one source: a pipe's input transformer or enrichment must keep `eventSource` and each record's id, and a subscriber of a custom event bus must deliver raw events with the transformer `WITH_METADATA`. For other arrays, such as AppSync's BatchInvoke, use `idempotentEach`",
    );
  }
  return {
    lanes: lanesOf(records as never, trustedForwarders),
    readsFailures: reportBatchItemFailures && EVENT_SOURCES[source as EventSource].reportsFailures === true,
  };
}

function sourceOfAll(records: readonly unknown[]): EventSource | undefined {
  const [source, ...others] = new Set(records.map(sourceOfRecord));
  return others.length === 0 && source && ARRAY_LANES[source] ? source : undefined;
}

function sourceOfRecord(record: unknown): EventSource | undefined {
  const { eventSource } = Object(record);
  return findEventSource(eventSource) ?? (isBusEvent(record) ? "EventBridge custom buses" : undefined);
}

/** Kafka has lists of records by topic and partition, RabbitMQ by queue. Other sources have one list. */
function isByList(records: unknown): boolean {
  const isMap = typeof records === "object" && records !== null && !Array.isArray(records);
  return isMap && Object.values(records).every(Array.isArray);
}

/** The event may be one operation or many; only the user can decide. */
function notABatch(event: unknown): PayloadInvalidError {
  const { Records, records, eventSource } = Object(event);
  const [first] = Array.isArray(Records) ? Records : [];
  const source = eventSource ?? Object(first).eventSource ?? Object(first).EventSource;
  const what = /^aws:[\w-]{1,32}$/.test(`${source}`)
    ? `of ${source}`
    : Array.isArray(records)
      ? "an object with an array `records`, which Data Firehose sends"
      : "not a batch";
  return new PayloadInvalidError(
    `the event is ${what}: idempotentBatch reads ${SOURCE_LIST}. If it contains several records, call \`runOnce\` for each one with its own key; if it is one operation, use \`idempotent\``,
  );
}

function hasIdentifier({ identifier }: BatchItem): boolean {
  if (typeof identifier === "string") return identifier !== "";
  return identifier !== undefined && Number.isInteger(identifier.offset);
}

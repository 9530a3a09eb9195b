/** Recognises a batch event's source, and refuses events that it couldn't respond to. */
import { EVENT_SOURCES, type EventSource, findEventSource } from "../../contract.ts";
import { PayloadInvalidError } from "../../core/errors.ts";
import type { Forwarders } from "./forwarders.ts";
import type { BatchItem, Lane } from "./item.ts";
import { type KafkaEvent, kafkaLanes } from "./kafka-source.ts";
import { type ActiveMqEvent, activeMqLanes, type RabbitMqEvent, rabbitMqLanes } from "./mq-source.ts";
import type { S3Key } from "./s3-changes.ts";
import { type SqsRecord, sqsLanes } from "./sqs-source.ts";
import { type StreamBatchRecord, streamLanes } from "./stream-source.ts";

type LanesOf = (event: { readonly Records: readonly unknown[] }, trustedForwarders?: Forwarders) => Lane[];

const LANES: Readonly<Record<EventSource, LanesOf>> = {
  SQS: ({ Records }, trustedForwarders) => sqsLanes(Records as SqsRecord[], trustedForwarders),
  Kinesis: ({ Records }, trustedForwarders) => streamLanes(Records as StreamBatchRecord[], trustedForwarders),
  "DynamoDB streams": ({ Records }, trustedForwarders) =>
    streamLanes(Records as StreamBatchRecord[], trustedForwarders),
  Kafka: (event, trustedForwarders) => kafkaLanes(event as unknown as KafkaEvent, trustedForwarders),
  ActiveMQ: (event, trustedForwarders) => activeMqLanes(event as unknown as ActiveMqEvent, trustedForwarders),
  RabbitMQ: (event, trustedForwarders) => rabbitMqLanes(event as unknown as RabbitMqEvent, trustedForwarders),
};

const SOURCE_NAMES = Object.keys(EVENT_SOURCES);
/** The sources, as listed in a sentence. */
export const SOURCE_LIST = `${SOURCE_NAMES.slice(0, -1).join(", ")} and ${SOURCE_NAMES.at(-1)}`;

interface BatchEvent {
  readonly lanes: readonly Lane[];
  /** Absent for a batch without records, and for an asynchronous invocation. */
  readonly source: EventSource | undefined;
}

/**
 * @param partsOf splits a record that carries several operations
 * @throws PayloadInvalidError (`PAYLOAD_INVALID`) for an event that isn't a batch, or has records without identifiers.
 */
export function readEvent(
  event: unknown,
  trustedForwarders?: Forwarders,
  partsOf?: S3Key["partsOf"],
): BatchEvent {
  const source = sourceOf(event, partsOf !== undefined);
  const whole =
    source === undefined
      ? invocationLanes(event as { readonly Records: readonly unknown[] })
      : LANES[source](event as never, trustedForwarders);
  const lanes = partsOf ? whole.flatMap((lane) => splitLane(lane, partsOf)) : whole;
  // Lambda treats an unknown or empty identifier as the failure of the whole batch.
  if (lanes.flat().every(hasIdentifier)) return { lanes, source };
  throw new PayloadInvalidError("the event contains records without an identifier");
}

/**
 * Whether Lambda reads which records of a batch failed. If it doesn't, it takes any response as success, and the failed
 * records are lost unless the batch throws. The event doesn't say so; throwing always works.
 * @param given the option `reportBatchItemFailures`
 */
export function isResponseRead(source: EventSource | undefined, given: boolean | undefined): boolean {
  const reports = source === undefined ? "never" : EVENT_SOURCES[source].reportsFailures;
  return reports !== "never" && (given ?? reports);
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
function invocationLanes({ Records }: { readonly Records: readonly unknown[] }): Lane[] {
  return Records.map((record, index) => [
    { record, identifier: `${index}`, body: record, ownKey: "", isOwnKeyFallback: false },
  ]);
}

function sourceOf(event: unknown, splits: boolean): EventSource | undefined {
  const { Records, records, window, isFinalInvokeForWindow, eventSource, messages, rmqMessagesByQueue } =
    Object(event) as Readonly<Record<string, unknown>>;
  if (isByList(records)) return "Kafka";
  if (eventSource === "aws:mq" && Array.isArray(messages)) return "ActiveMQ";
  if (eventSource === "aws:rmq" && isByList(rmqMessagesByQueue)) return "RabbitMQ";
  if (!Array.isArray(Records)) throw notABatch(event);
  if ((window ?? isFinalInvokeForWindow) !== undefined) {
    // Lambda treats a response without `state` as a failure, and delivers the window again until the records expire.
    throw new PayloadInvalidError(
      "the event is part of a tumbling window, whose response must contain the window's `state`: remove `tumblingWindow` from the event source mapping, or aggregate in a handler without idempotentBatch",
    );
  }
  if (Records.length === 0) return undefined;
  const { eventSource: of, EventSource } = Object(Records[0]);
  if (splits && (of === "aws:s3" || EventSource === "aws:sns")) return undefined;
  const source = findEventSource(of);
  if (source === undefined || NAMED_BY_EVENT.includes(source)) throw notABatch(event);
  return source;
}

/** Their records don't name the source. */
const NAMED_BY_EVENT: readonly EventSource[] = ["Kafka", "ActiveMQ", "RabbitMQ"];

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
  const what = Array.isArray(event)
    ? "an array, which EventBridge Pipes and custom event buses send"
    : /^aws:[\w-]{1,32}$/.test(`${source}`)
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

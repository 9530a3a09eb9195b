/** Recognises a batch event's source, and refuses events that it couldn't respond to. */
import { EVENT_SOURCES, type EventSource, findEventSource } from "../../contract.ts";
import { PayloadInvalidError } from "../../core/errors.ts";
import type { Forwarders } from "./forwarders.ts";
import type { BatchItem, Lane } from "./item.ts";
import { type KafkaEvent, kafkaLanes } from "./kafka-source.ts";
import { type SqsRecord, sqsLanes } from "./sqs-source.ts";
import { type StreamBatchRecord, streamLanes } from "./stream-source.ts";

type LanesOf = (event: { readonly Records: readonly unknown[] }, trustedForwarders?: Forwarders) => Lane[];

const LANES: Readonly<Record<EventSource, LanesOf>> = {
  SQS: ({ Records }, trustedForwarders) => sqsLanes(Records as SqsRecord[], trustedForwarders),
  Kinesis: ({ Records }, trustedForwarders) => streamLanes(Records as StreamBatchRecord[], trustedForwarders),
  "DynamoDB streams": ({ Records }, trustedForwarders) =>
    streamLanes(Records as StreamBatchRecord[], trustedForwarders),
  Kafka: (event, trustedForwarders) => kafkaLanes(event as unknown as KafkaEvent, trustedForwarders),
};

const SOURCE_NAMES = Object.keys(EVENT_SOURCES);
/** The sources, as listed in a sentence. */
export const SOURCE_LIST = `${SOURCE_NAMES.slice(0, -1).join(", ")} and ${SOURCE_NAMES.at(-1)}`;

interface BatchEvent {
  readonly lanes: readonly Lane[];
  /** Absent for a batch without records. */
  readonly source: EventSource | undefined;
}

/** @throws PayloadInvalidError (`PAYLOAD_INVALID`) for an event that isn't a batch, or has records without identifiers. */
export function readEvent(event: unknown, trustedForwarders?: Forwarders): BatchEvent {
  const source = sourceOf(event);
  const lanes = source ? LANES[source](event as never, trustedForwarders) : [];
  // Lambda treats an unknown or empty identifier as the failure of the whole batch.
  if (lanes.flat().every(hasIdentifier)) return { lanes, source };
  throw new PayloadInvalidError("the event contains records without an identifier");
}

function sourceOf(event: unknown): EventSource | undefined {
  const { Records, records, window, isFinalInvokeForWindow } = Object(event) as Readonly<
    Record<string, unknown>
  >;
  if (isKafka(records)) return "Kafka";
  if (!Array.isArray(Records)) throw notABatch(event);
  if ((window ?? isFinalInvokeForWindow) !== undefined) {
    // Lambda treats a response without `state` as a failure, and delivers the window again until the records expire.
    throw new PayloadInvalidError(
      "the event is part of a tumbling window, whose response must contain the window's `state`: remove `tumblingWindow` from the event source mapping, or aggregate in a handler without idempotentBatch",
    );
  }
  if (Records.length === 0) return undefined;
  const source = findEventSource(Object(Records[0]).eventSource);
  if (source === undefined || source === "Kafka") throw notABatch(event);
  return source;
}

/** Kafka has lists of records by topic and partition. Other sources have one list under this name. */
function isKafka(records: unknown): boolean {
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

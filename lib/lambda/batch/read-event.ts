/** Recognises the source of a batch event, and refuses what it could not answer for. */
import { PayloadInvalidError } from "../../core/errors.ts";
import type { Forwarders } from "./forwarders.ts";
import type { BatchItem, Lane } from "./item.ts";
import { type KafkaEvent, kafkaLanes } from "./kafka-source.ts";
import { type SqsRecord, sqsLanes } from "./sqs-source.ts";
import { type StreamBatchRecord, streamLanes } from "./stream-source.ts";

/** @throws PayloadInvalidError (`PAYLOAD_INVALID`) for an event that is no batch, or has records without identifiers. */
export function readEvent(event: unknown, forwardedBy?: Forwarders): Lane[] {
  const lanes = lanesOf(event, forwardedBy);
  // An identifier that Lambda does not know, or an empty one, counts as the failure of the whole batch.
  if (lanes.flat().every(hasIdentifier)) return lanes;
  throw new PayloadInvalidError("the event has records without an identifier");
}

function lanesOf(event: unknown, forwardedBy: Forwarders | undefined): Lane[] {
  const { Records, records, window, isFinalInvokeForWindow } = Object(event) as Readonly<
    Record<string, unknown>
  >;
  if (isKafka(records)) return kafkaLanes(event as KafkaEvent, forwardedBy);
  if (!Array.isArray(Records)) throw notABatch(event);
  if ((window ?? isFinalInvokeForWindow) !== undefined) {
    // Lambda takes an answer without `state` for a failure, and delivers the window again until the records expire.
    throw new PayloadInvalidError(
      "the event is part of a tumbling window, whose answer must carry the window's `state`: leave `tumblingWindow` out of the event source mapping, or aggregate in a handler without idempotentBatch",
    );
  }
  if (Records.length === 0) return [];
  const source = Object(Records[0]).eventSource;
  if (source === "aws:sqs") return sqsLanes(Records as SqsRecord[], forwardedBy);
  if (source === "aws:kinesis" || source === "aws:dynamodb") {
    return streamLanes(Records as StreamBatchRecord[], forwardedBy);
  }
  throw notABatch(event);
}

/** Lists of records by topic and partition. Other sources have one list under this name. */
function isKafka(records: unknown): boolean {
  const isMap = typeof records === "object" && records !== null && !Array.isArray(records);
  return isMap && Object.values(records).every(Array.isArray);
}

/** The event may be one operation or many, and only the user knows. */
function notABatch(event: unknown): PayloadInvalidError {
  const { Records, records, eventSource } = Object(event);
  const [first] = Array.isArray(Records) ? Records : [];
  const source = eventSource ?? Object(first).eventSource ?? Object(first).EventSource;
  const what = Array.isArray(event)
    ? "a list of records, as EventBridge Pipes sends one"
    : /^aws:[\w-]{1,32}$/.test(`${source}`)
      ? `of ${source}`
      : Array.isArray(records)
        ? "a list of `records`, as Data Firehose sends one"
        : "not a batch";
  return new PayloadInvalidError(
    `the event is ${what}: idempotentBatch reads SQS, Kinesis, DynamoDB streams and Kafka. If it carries several records, call \`runOnce\` for each with a key of its own; if it is one operation, use \`idempotent\``,
  );
}

function hasIdentifier({ identifier }: BatchItem): boolean {
  if (typeof identifier === "string") return identifier !== "";
  return identifier !== undefined && Number.isInteger(identifier.offset);
}

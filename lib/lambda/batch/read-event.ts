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
  const { Records, records } = (event ?? {}) as { Records?: unknown; records?: unknown };
  if (typeof records === "object" && records !== null && !Array.isArray(records)) {
    return kafkaLanes(event as KafkaEvent, forwardedBy);
  }
  if (!Array.isArray(Records)) {
    throw new PayloadInvalidError("the event is not a batch: use `idempotent` for single events");
  }
  if (Records.length === 0) return [];
  const source = (Records[0] as { eventSource?: unknown } | null)?.eventSource;
  if (source === "aws:sqs") return sqsLanes(Records as SqsRecord[], forwardedBy);
  if (source === "aws:kinesis" || source === "aws:dynamodb") {
    return streamLanes(Records as StreamBatchRecord[], forwardedBy);
  }
  throw new PayloadInvalidError(
    "the records are not of SQS, Kinesis, a DynamoDB stream or Kafka: use `idempotent` for events of other sources",
  );
}

function hasIdentifier({ identifier }: BatchItem): boolean {
  if (typeof identifier === "string") return identifier !== "";
  return identifier !== undefined && Number.isInteger(identifier.offset);
}

/** Records of a Kinesis or DynamoDB stream: one lane. Lambda and pipes never put two shards into one event. */
import { type Forwarders, messageOf } from "./forwarders.ts";
import type { BatchItem, Lane } from "./item.ts";

interface StreamBatchRecord {
  readonly eventID: string;
  readonly eventName?: string;
  readonly kinesis?: KinesisData;
  readonly dynamodb?: {
    readonly SequenceNumber?: string;
    readonly Keys?: unknown;
    readonly NewImage?: unknown;
    readonly OldImage?: unknown;
  };
}

interface KinesisData {
  readonly sequenceNumber: string;
  readonly data: string;
}

/** Through a pipe, a Kinesis record has the fields of `kinesis` itself. */
type PipedStreamRecord = StreamBatchRecord & Partial<KinesisData>;

export function streamLanes(records: readonly StreamBatchRecord[], trustedForwarders?: Forwarders): Lane[] {
  const itemOf = (record: StreamBatchRecord) => {
    const { kinesis, dynamodb } = record;
    const identifier = (kinesis?.sequenceNumber ?? dynamodb?.SequenceNumber) as string;
    return streamItem(record, identifier, kinesis, trustedForwarders);
  };
  return [records.map(itemOf)];
}

/**
 * A pipe reads event ids, not sequence numbers.
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-pipes-batching-concurrency.html
 */
export function pipedStreamLanes(
  records: readonly PipedStreamRecord[],
  trustedForwarders?: Forwarders,
): Lane[] {
  const itemOf = (record: PipedStreamRecord) => {
    const data = record.dynamodb === undefined ? (record as KinesisData) : undefined;
    return streamItem(record, record.eventID, data, trustedForwarders);
  };
  return [records.map(itemOf)];
}

/** An item change has one event id; but a producer that puts a record into Kinesis twice gets two of them. */
function streamItem(
  record: StreamBatchRecord,
  identifier: string,
  kinesis: KinesisData | undefined,
  trustedForwarders: Forwarders | undefined,
): BatchItem {
  const { eventID, eventName, dynamodb } = record;
  return {
    record,
    identifier,
    ...(kinesis
      ? messageOf(NO_ENVELOPE, kinesis.data, textOf(kinesis.data), trustedForwarders)
      : { body: changeOf(eventName, dynamodb) }),
    ownKey: eventID,
    isOwnKeyFallback: kinesis !== undefined,
  };
}

/** Streams carry only the data. */
const NO_ENVELOPE = { found: false, reason: "absent" } as const;

function textOf(data: string | undefined): string {
  return Buffer.from(data ?? "", "base64").toString();
}

/** Without absent fields: a fingerprint has no `undefined`. */
function changeOf(
  eventName: string | undefined,
  { Keys, NewImage, OldImage }: StreamBatchRecord["dynamodb"] = {},
) {
  const change = { eventName, Keys, NewImage, OldImage };
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}

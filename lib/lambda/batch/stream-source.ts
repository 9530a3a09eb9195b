/** Records of a Kinesis or DynamoDB stream: one lane. Lambda never puts two shards into one event. */
import { type Forwarders, messageOf } from "./forwarders.ts";
import type { Lane } from "./item.ts";

export interface StreamBatchRecord {
  readonly eventID: string;
  readonly eventName?: string;
  readonly kinesis?: { readonly sequenceNumber: string; readonly data: string };
  readonly dynamodb?: {
    readonly SequenceNumber?: string;
    readonly Keys?: unknown;
    readonly NewImage?: unknown;
    readonly OldImage?: unknown;
  };
}

/** An item change has one event id; but a producer that puts a record into Kinesis twice gets two of them. */
export function streamLanes(records: readonly StreamBatchRecord[], trustedForwarders?: Forwarders): Lane[] {
  return [
    records.map((record) => {
      const { eventID, eventName, kinesis, dynamodb } = record;
      return {
        record,
        identifier: (kinesis?.sequenceNumber ?? dynamodb?.SequenceNumber) as string,
        ...(kinesis
          ? messageOf(NO_ENVELOPE, kinesis.data, textOf(kinesis.data), trustedForwarders)
          : { body: changeOf(eventName, dynamodb) }),
        ownKey: eventID,
        isOwnKeyFallback: kinesis !== undefined,
      };
    }),
  ];
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

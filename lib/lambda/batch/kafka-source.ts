/** Kafka records, managed by AWS or not: a lane for each partition of a topic. */
import { ENVELOPE_ATTRIBUTE } from "../../contract.ts";
import { hashTuple } from "../../core/identity.ts";
import { type EnvelopeReading, readEnvelope } from "../../messaging/envelope.ts";
import { type Forwarders, messageOf } from "./forwarders.ts";
import type { Lane } from "./item.ts";

interface KafkaRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** The record's time, the same in each delivery. A recreated topic restarts its offsets. */
  readonly timestamp?: number;
  /** Base64, or any JSON if a schema registry has decoded it. `null` is a tombstone. */
  readonly value?: unknown;
  /** Each has one name, with the bytes of its value. */
  readonly headers?: readonly Readonly<Record<string, readonly number[]>>[] | null;
}

interface KafkaEvent {
  readonly eventSourceArn?: string;
  readonly bootstrapServers?: string;
  readonly records: Readonly<Record<string, readonly KafkaRecord[]>>;
}

/** The identifiers are objects: https://docs.aws.amazon.com/lambda/latest/dg/kafka-retry-configurations.html */
export function kafkaLanes(
  { records, eventSourceArn, bootstrapServers }: KafkaEvent,
  trustedForwarders?: Forwarders,
): Lane[] {
  const cluster = eventSourceArn ?? bootstrapServers ?? "";
  return Object.values(records).map((lane) =>
    lane.map((record) => ({
      record,
      identifier: { partition: `${record.topic}-${record.partition}`, offset: record.offset },
      ...messageOf(
        readHeaders(record.headers),
        record.value ?? null,
        textOf(record.value),
        trustedForwarders,
      ),
      ownKey: hashTuple(
        "onceonly/kafka/2",
        cluster,
        record.topic,
        `${record.partition}`,
        `${record.offset}`,
        `${record.timestamp ?? ""}`,
      ),
      isOwnKeyFallback: true,
    })),
  );
}

/** Through a pipe, each record names its cluster, and has its partition as a string. One batch is from one cluster. */
type PipedKafkaRecord = KafkaRecord & Pick<KafkaEvent, "eventSourceArn" | "bootstrapServers">;

export function pipedKafkaLanes(piped: readonly PipedKafkaRecord[], trustedForwarders?: Forwarders): Lane[] {
  const records: Record<string, KafkaRecord[]> = {};
  for (const record of piped) {
    const place = `${record.topic}-${record.partition}`;
    records[place] ??= [];
    records[place].push(record);
  }
  return kafkaLanes({ ...piped[0], records }, trustedForwarders);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? Buffer.from(value, "base64").toString() : JSON.stringify(value ?? "");
}

/** The last header of a name counts, as in Kafka's own clients. Bytes may be signed. */
function readHeaders(headers: KafkaRecord["headers"]): EnvelopeReading {
  const header = (headers ?? []).findLast((each) => Object.hasOwn(each, ENVELOPE_ATTRIBUTE));
  const bytes = header?.[ENVELOPE_ATTRIBUTE];
  const StringValue = Array.isArray(bytes) ? Buffer.from(bytes).toString() : bytes;
  return readEnvelope(header && { [ENVELOPE_ATTRIBUTE]: { StringValue } });
}

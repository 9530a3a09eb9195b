/** Records of Kafka, managed by AWS or not: a lane for each partition of a topic. */
import { hashTuple } from "../../core/identity.ts";
import type { Lane } from "./item.ts";

export interface KafkaRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly value?: string | null;
}

export interface KafkaEvent {
  readonly eventSourceArn?: string;
  readonly bootstrapServers?: string;
  readonly records: Readonly<Record<string, readonly KafkaRecord[]>>;
}

/** The identifiers are objects: https://docs.aws.amazon.com/lambda/latest/dg/kafka-retry-configurations.html */
export function kafkaLanes({ records, eventSourceArn, bootstrapServers }: KafkaEvent): Lane[] {
  const cluster = eventSourceArn ?? bootstrapServers ?? "";
  return Object.values(records).map((lane) =>
    lane.map((record) => ({
      record,
      identifier: { partition: `${record.topic}-${record.partition}`, offset: record.offset },
      body: record.value ?? "",
      ownKey: hashTuple("onceonly/kafka/1", cluster, record.topic, `${record.partition}`, `${record.offset}`),
      isOwnKeyFallback: true,
    })),
  );
}

// Reads a table's stream over the JSON protocol, without an SDK client. Only for local engines, because it
// does not sign. https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Operations_Amazon_DynamoDB_Streams.html

import type { StreamRecord } from "onceonly-explorer/aws";

export interface Shard {
  readonly ShardId: string;
  readonly ParentShardId?: string;
}

export type Position =
  | { readonly ShardIteratorType: "TRIM_HORIZON" | "LATEST" }
  | { readonly ShardIteratorType: "AFTER_SEQUENCE_NUMBER"; readonly SequenceNumber: string };

export interface StreamClient {
  shards(): Promise<readonly Shard[]>;
  iterator(shardId: string, position: Position): Promise<string>;
  /** `next` is `undefined` at the end of a closed shard. */
  records(iterator: string, limit: number): Promise<{ records: readonly StreamRecord[]; next?: string }>;
}

/** Engines want a signature to be there, and do not check it. */
const CREDENTIAL =
  "AWS4-HMAC-SHA256 Credential=local/20300101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0";

export function streamClient(endpoint: string, StreamArn: string, signal: AbortSignal): StreamClient {
  async function call<T>(operation: string, input: object): Promise<T> {
    const response = await fetch(endpoint, {
      method: "POST",
      headers: {
        authorization: CREDENTIAL,
        "content-type": "application/x-amz-json-1.0",
        "x-amz-date": new Date().toISOString().replaceAll(/[-:]|\.\d+/g, ""),
        "x-amz-target": `DynamoDBStreams_20120810.${operation}`,
      },
      body: JSON.stringify(input),
      signal,
    });
    const answer: unknown = await response.json();
    if (response.ok) return answer as T;
    throw new Error(`${operation} was rejected: ${Object(answer).__type}`);
  }

  return {
    async shards() {
      const shards: Shard[] = [];
      let last: string | undefined;
      do {
        const ExclusiveStartShardId = last;
        const { StreamDescription } = await call<{
          StreamDescription: { Shards?: Shard[]; LastEvaluatedShardId?: string };
        }>("DescribeStream", { StreamArn, ...(last && { ExclusiveStartShardId }) });
        shards.push(...(StreamDescription.Shards ?? []));
        last = StreamDescription.LastEvaluatedShardId;
      } while (last);
      return shards;
    },
    async iterator(ShardId, position) {
      const input = { StreamArn, ShardId, ...position };
      return (await call<{ ShardIterator: string }>("GetShardIterator", input)).ShardIterator;
    },
    async records(ShardIterator, Limit) {
      const input = { ShardIterator, Limit };
      const { Records = [], NextShardIterator } = await call<{
        Records?: StreamRecord[];
        NextShardIterator?: string;
      }>("GetRecords", input);
      return { records: Records, ...(NextShardIterator && { next: NextShardIterator }) };
    },
  };
}

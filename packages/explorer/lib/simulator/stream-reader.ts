/** Reads the stream of a table from its beginning, and remembers how many records are settled. */
import { DynamoDBError } from "../aws/dynamodb/dynamodb-error.ts";
import type { DynamoDBModel } from "../aws/dynamodb/dynamodb-model.ts";
import { jsonAnswer } from "../aws/dynamodb/json-protocol.ts";
import { lambdaRecord, type StreamRecord } from "../aws/event-sources/stream-record.ts";

export interface StreamReader {
  arn(): Promise<string>;
  /** The records after the settled ones, in the form of a function's event. */
  next(limit: number): Promise<readonly StreamRecord[]>;
  settle(records: readonly StreamRecord[]): void;
}

const REGION = "us-east-1";

export function streamReader(model: DynamoDBModel, tableName: string): StreamReader {
  let stream: ReturnType<typeof find> | undefined;
  let settled: string | undefined;

  async function find(): Promise<{ readonly arn: string; readonly shardId: string }> {
    const { Table } = await model.call("DescribeTable", { TableName: tableName }).catch((cause: unknown) => {
      throw new Error(`no table ${tableName} to connect: create it with table(name, …)`, { cause });
    });
    const arn = Object(Table).LatestStreamArn as string | undefined;
    if (arn === undefined)
      throw new Error(`the table ${tableName} has no stream: create it with stream: true`);
    const { StreamDescription } = await model.call("DescribeStream", { StreamArn: arn });
    return { arn, shardId: Object(StreamDescription).Shards[0].ShardId };
  }

  function found(): ReturnType<typeof find> {
    stream ??= find();
    return stream;
  }

  async function iterator(): Promise<string> {
    const { arn, shardId } = await found();
    const input = { StreamArn: arn, ShardId: shardId };
    const position =
      settled === undefined
        ? { ShardIteratorType: "TRIM_HORIZON" }
        : { ShardIteratorType: "AFTER_SEQUENCE_NUMBER", SequenceNumber: settled };
    const answer = await model.call("GetShardIterator", { ...input, ...position });
    return answer.ShardIterator;
  }

  return {
    arn: async () => (await found()).arn,
    async next(limit) {
      try {
        const { Records } = await model.call("GetRecords", { ShardIterator: await iterator(), Limit: limit });
        const { arn } = await found();
        // The form of JSON: an event has binary values in base64.
        const plain = JSON.parse(jsonAnswer(Records).body) as readonly StreamRecord[];
        return plain.map((record) => lambdaRecord(record, arn, REGION));
      } catch (error) {
        if (!(error instanceof DynamoDBError) || error.name !== "TrimmedDataAccessException") throw error;
        settled = undefined;
        return this.next(limit);
      }
    },
    settle(records) {
      settled = records.at(-1)?.dynamodb.SequenceNumber ?? settled;
    },
  };
}

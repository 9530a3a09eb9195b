/** DescribeStream and ListStreams. https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_DescribeStream.html */
import { invalid, notFound } from "../dynamodb-error.ts";
import type { DynamoDBService } from "../dynamodb-service.ts";
import type { DynamoDBHandler } from "../handler.ts";
import type { Stream } from "./stream.ts";

const MAX_PAGE = 100;

export const describeStream: DynamoDBHandler<"DescribeStream"> = (service, input) => {
  const stream = streamByArn(service, input.StreamArn);
  const { identity } = stream;
  const shard = {
    ShardId: identity.shardId,
    SequenceNumberRange: {
      StartingSequenceNumber: identity.firstSequenceNumber,
      ...(stream.isClosed && {
        EndingSequenceNumber: stream.lastSequenceNumber ?? identity.firstSequenceNumber,
      }),
    },
  };
  return {
    StreamDescription: {
      StreamArn: identity.arn,
      StreamLabel: identity.label,
      StreamStatus: stream.isClosed ? "DISABLED" : "ENABLED",
      StreamViewType: identity.viewType,
      CreationRequestDateTime: stream.createdAt / 1000,
      TableName: identity.tableName,
      KeySchema: identity.keySchema,
      Shards: input.ExclusiveStartShardId === identity.shardId ? [] : [shard],
    },
  };
};

export const listStreams: DynamoDBHandler<"ListStreams"> = (service, input) => {
  const { TableName, Limit = MAX_PAGE, ExclusiveStartStreamArn: start = "" } = input;
  if (Limit < 1 || Limit > MAX_PAGE) {
    throw invalid(`1 validation error detected: Limit is ${Limit}, and must be between 1 and ${MAX_PAGE}`);
  }
  const streams = [...service.streams.values()]
    .filter((stream) => !stream.isGone(service.now()) && stream.arn > start)
    .filter(({ identity }) => TableName === undefined || identity.tableName === TableName)
    .sort((first, second) => (first.arn < second.arn ? -1 : 1));
  const page = streams.slice(0, Limit);
  const last = page.at(-1);
  return {
    Streams: page.map(({ arn, label, identity }) => ({
      StreamArn: arn,
      StreamLabel: label,
      TableName: identity.tableName,
    })),
    ...(streams.length > Limit && last && { LastEvaluatedStreamArn: last.arn }),
  };
};

export function streamByArn(service: DynamoDBService, arn: string): Stream {
  const stream = service.streams.get(arn);
  if (stream === undefined || stream.isGone(service.now())) {
    throw notFound("Requested resource not found: Stream not found");
  }
  return stream;
}

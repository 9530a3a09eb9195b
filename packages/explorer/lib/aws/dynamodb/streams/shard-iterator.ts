/**
 * Shard iterators: a reader's position in a shard. They are valid for 15 minutes.
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_GetShardIterator.html
 */
import { DynamoDBError, invalid, invalidParameterValues, notFound } from "../dynamodb-error.ts";
import type { DynamoDBService } from "../dynamodb-service.ts";
import type { DynamoDBHandler } from "../handler.ts";
import type { GetShardIteratorInput } from "../table-operations.ts";
import { streamByArn } from "./describe-stream.ts";
import type { Stream } from "./stream.ts";

const LIFETIME_MS = 15 * 60_000;
const POSITIONS = ["TRIM_HORIZON", "LATEST", "AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"];

export const getShardIterator: DynamoDBHandler<"GetShardIterator"> = (service, input) => {
  checkPosition(input);
  const stream = streamByArn(service, input.StreamArn);
  if (stream.identity.shardId !== input.ShardId)
    throw notFound("Requested resource not found: Shard not found");
  return { ShardIterator: iteratorAt(service, stream, positionIn(service, stream, input)) };
};

export function iteratorAt(service: DynamoDBService, stream: Stream, position: number): string {
  return Buffer.from(JSON.stringify([stream.arn, position, service.now()])).toString("base64url");
}

/** @throws DynamoDBError `ValidationException`, `ExpiredIteratorException` */
export function readIterator(
  service: DynamoDBService,
  iterator: string,
): { readonly stream: Stream; readonly position: number } {
  const [arn, position, issuedAt] = decoded(iterator);
  if (service.now() - issuedAt > LIFETIME_MS) {
    throw new DynamoDBError("ExpiredIteratorException", "The shard iterator is older than 15 minutes");
  }
  return { stream: streamByArn(service, arn), position };
}

export function trimmed(): DynamoDBError {
  return new DynamoDBError(
    "TrimmedDataAccessException",
    "The record that was asked for is older than 24 hours and has been trimmed",
  );
}

function checkPosition({ ShardIteratorType, SequenceNumber }: GetShardIteratorInput): void {
  if (!POSITIONS.includes(ShardIteratorType)) {
    throw invalid(`1 validation error detected: ShardIteratorType is one of ${POSITIONS.join(", ")}`);
  }
  if (ShardIteratorType.endsWith("SEQUENCE_NUMBER") !== (SequenceNumber !== undefined)) {
    throw invalidParameterValues(
      `SequenceNumber ${SequenceNumber === undefined ? "is required" : "should not be passed"} for this iterator type`,
    );
  }
}

function positionIn(service: DynamoDBService, stream: Stream, input: GetShardIteratorInput): number {
  const horizon = stream.horizon(service.now());
  if (input.ShardIteratorType === "TRIM_HORIZON") return horizon;
  if (input.ShardIteratorType === "LATEST") return stream.end();
  const number = input.SequenceNumber ?? "";
  if (!/^\d{21,40}$/.test(number)) throw invalidParameterValues("Invalid SequenceNumber");
  if (stream.isTrimmed(number)) throw trimmed();
  const position = stream.positionOf(number);
  if (position === undefined) throw invalidParameterValues("Invalid SequenceNumber");
  return input.ShardIteratorType === "AT_SEQUENCE_NUMBER" ? position : position + 1;
}

function decoded(iterator: string): readonly [arn: string, position: number, issuedAt: number] {
  try {
    const [arn, position, issuedAt] = JSON.parse(Buffer.from(iterator, "base64url").toString());
    if (typeof arn === "string" && Number.isInteger(position) && Number.isFinite(issuedAt)) {
      return [arn, position, issuedAt];
    }
  } catch {
    // Not an iterator that this model issued.
  }
  throw invalid("Invalid ShardIterator");
}

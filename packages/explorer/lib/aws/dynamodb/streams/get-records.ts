/** GetRecords. https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_GetRecords.html */
import { invalid } from "../dynamodb-error.ts";
import type { DynamoDBHandler } from "../handler.ts";
import { iteratorAt, readIterator, trimmed } from "./shard-iterator.ts";
import type { StreamRecord } from "./stream-record.ts";

const MAX_RECORDS = 1000;
const MAX_BYTES = 1024 * 1024;

export const getRecords: DynamoDBHandler<"GetRecords"> = (
  service,
  { ShardIterator, Limit = MAX_RECORDS },
) => {
  if (!Number.isInteger(Limit) || Limit < 1 || Limit > MAX_RECORDS) {
    throw invalid(`1 validation error detected: Limit must be between 1 and ${MAX_RECORDS}`);
  }
  const { stream, position } = readIterator(service, ShardIterator);
  if (position < stream.horizon(service.now())) throw trimmed();
  const Records = pageOf(stream.recordsFrom(position), Limit);
  const next = position + Records.length;
  const isAtItsEnd = stream.isClosed && next === stream.end();
  return { Records, ...(!isAtItsEnd && { NextShardIterator: iteratorAt(service, stream, next) }) };
};

function pageOf(records: readonly StreamRecord[], limit: number): readonly StreamRecord[] {
  const page: StreamRecord[] = [];
  let bytes = 0;
  for (const record of records.slice(0, limit)) {
    bytes += record.dynamodb.SizeBytes;
    if (page.length > 0 && bytes > MAX_BYTES) break;
    page.push(record);
  }
  return page;
}

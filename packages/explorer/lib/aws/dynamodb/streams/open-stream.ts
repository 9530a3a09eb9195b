/** Gives a table its stream, if it is to have one. */
import { invalidParameterValues } from "../dynamodb-error.ts";
import type { DynamoDBService } from "../dynamodb-service.ts";
import type { StreamSpecification } from "../table-operations.ts";
import type { Table } from "../tables/table.ts";
import { Stream } from "./stream.ts";
import { STREAM_VIEW_TYPES } from "./stream-record.ts";

/** @throws DynamoDBError `ValidationException` */
export function openStream(
  service: DynamoDBService,
  table: Table,
  specification: StreamSpecification | undefined,
): void {
  const { StreamEnabled, StreamViewType } = specification ?? {};
  if (!StreamEnabled) {
    if (StreamViewType === undefined) return;
    throw invalidParameterValues("a table without a stream has no StreamViewType");
  }
  const viewType = STREAM_VIEW_TYPES.find((type) => type === StreamViewType);
  if (viewType === undefined) {
    throw invalidParameterValues(`Invalid StreamViewType: it is one of ${STREAM_VIEW_TYPES.join(", ")}`);
  }
  const label = labelAt(service);
  const arn = `${table.definition.arn}/stream/${label}`;
  const firstSequenceNumber = service.newSequenceNumber();
  table.stream = new Stream(
    {
      arn,
      label,
      shardId: `shardId-${firstSequenceNumber.slice(1)}-${service.newId().slice(0, 8)}`,
      tableName: table.name,
      keySchema: table.definition.description.KeySchema,
      viewType,
      firstSequenceNumber,
    },
    service.now(),
  );
  service.streams.set(arn, table.stream);
}

/** A time, with a number that distinguishes streams opened in the same millisecond. */
function labelAt(service: DynamoDBService): string {
  const { size } = service.streams;
  return `${new Date(service.now()).toISOString().slice(0, -1)}${String(size).padStart(3, "0")}`;
}

/**
 * BatchWriteItem: independent puts and deletes. The model never leaves any unprocessed.
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html
 */
import { addUnits, reportBatch, type Units } from "../consumed-capacity.ts";
import { invalid } from "../dynamodb-error.ts";
import type { DynamoDBHandler } from "../handler.ts";
import type { WriteRequest } from "../item-operations.ts";
import type { Table } from "../tables/table.ts";
import type { PreparedWrite } from "./prepared-write.ts";
import { chargedWrite } from "./single-write.ts";
import { type Bind, readDelete, readPut } from "./write-inputs.ts";

const MAX_REQUESTS = 25;

export const batchWriteItem: DynamoDBHandler<"BatchWriteItem"> = (service, input) => {
  const binds = readRequests(input.RequestItems).map(([TableName, request]) =>
    readRequest(TableName, request),
  );
  const writes = binds.map((bind) => bind(service));
  checkTargetsDiffer(writes);
  const units = new Map<Table, Units>();
  for (const write of writes) {
    const { units: spent } = chargedWrite(service, write);
    units.set(write.table, addUnits(units.get(write.table), spent));
  }
  return { UnprocessedItems: {}, ...reportBatch(input.ReturnConsumedCapacity, units) };
};

function readRequests(
  requestItems: Readonly<Record<string, readonly WriteRequest[]>> | undefined,
): readonly (readonly [string, WriteRequest])[] {
  const tables = Object.entries(requestItems ?? {});
  if (tables.length === 0) throw invalid("The requestItems parameter is required for BatchWriteItem");
  const requests = tables.flatMap(([name, list]) => {
    if (list.length === 0) {
      throw invalid(`The batch write request list for a table cannot be null or empty: ${name}`);
    }
    return list.map((request) => [name, request] as const);
  });
  if (requests.length > MAX_REQUESTS) throw invalid("Too many items requested for the BatchWriteItem call");
  return requests;
}

function readRequest(TableName: string, { PutRequest, DeleteRequest }: WriteRequest): Bind {
  if ((PutRequest === undefined) === (DeleteRequest === undefined)) {
    throw invalid(
      "Supplied WriteRequest must contain exactly one of the supported requests: PutRequest, DeleteRequest",
    );
  }
  if (PutRequest) return readPut({ TableName, Item: PutRequest.Item });
  return readDelete({ TableName, Key: DeleteRequest?.Key ?? {} });
}

/** A batch names each item once. */
export function checkTargetsDiffer(writes: readonly PreparedWrite[]): void {
  const targets = writes.map(({ table, key }) => `${table.name} ${table.keyText(key)}`);
  if (new Set(targets).size < targets.length) {
    throw invalid("Provided list of item keys contains duplicates");
  }
}

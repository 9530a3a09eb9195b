/** DescribeTable, DeleteTable and ListTables. */
import { DynamoDBError, invalid } from "../dynamodb-error.ts";
import type { DynamoDBHandler } from "../handler.ts";
import { itemSize } from "../values/value-size.ts";
import { entriesIn } from "./secondary-index.ts";
import type { Table } from "./table.ts";

const MAX_PAGE = 100;

export const describeTable: DynamoDBHandler<"DescribeTable"> = (service, { TableName }) => ({
  Table: describe(service.table(TableName)),
});

export const deleteTable: DynamoDBHandler<"DeleteTable"> = (service, { TableName }) => {
  const table = service.table(TableName);
  if (table.isProtected) {
    throw new DynamoDBError(
      "ValidationException",
      "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.",
    );
  }
  service.tables.delete(table.name);
  table.stream?.close(service.now());
  return { TableDescription: { ...describe(table), TableStatus: "DELETING" } };
};

export const listTables: DynamoDBHandler<"ListTables"> = (service, input) => {
  const { Limit = MAX_PAGE, ExclusiveStartTableName: start = "" } = input;
  if (Limit < 1 || Limit > MAX_PAGE) {
    throw invalid(`1 validation error detected: Limit is ${Limit}, and must be between 1 and ${MAX_PAGE}`);
  }
  const names = [...service.tables.keys()].filter((name) => name > start).sort();
  const TableNames = names.slice(0, Limit);
  const last = TableNames.at(-1);
  return {
    TableNames,
    ...(names.length > Limit && last !== undefined && { LastEvaluatedTableName: last }),
  };
};

export function describe(table: Table): Readonly<Record<string, unknown>> {
  const { name, arn, indexes, description } = table.definition;
  const items = [...table.items.all()];
  return {
    ...description,
    TableName: name,
    TableArn: arn,
    TableStatus: "ACTIVE",
    CreationDateTime: table.createdAt / 1000,
    ItemCount: items.length,
    TableSizeBytes: items.reduce((bytes, item) => bytes + itemSize(item), 0),
    ...(indexes.length > 0 && {
      GlobalSecondaryIndexes: indexes.map((index) => {
        const entries = entriesIn(index, items);
        return {
          ...index.description,
          IndexName: index.name,
          IndexArn: `${arn}/index/${index.name}`,
          IndexStatus: "ACTIVE",
          ItemCount: entries.length,
          IndexSizeBytes: entries.reduce((bytes, entry) => bytes + itemSize(entry), 0),
        };
      }),
    }),
    ...(table.stream && {
      StreamSpecification: { StreamEnabled: true, StreamViewType: table.stream.viewType },
      LatestStreamArn: table.stream.arn,
      LatestStreamLabel: table.stream.label,
    }),
  };
}

/** Turns a simulation's description of a table into requests to DynamoDB. */
import type { CreateTableInput } from "../aws/dynamodb/table-operations.ts";
import type { KeyAttribute, SimulatedIndex, SimulatedTable } from "./simulator-options.ts";

export function createTableInput(name: string, table: SimulatedTable): CreateTableInput {
  const attributes = new Map<string, KeyAttribute["type"]>();
  const schemaOf = ({ partitionKey, sortKey }: Pick<SimulatedIndex, "partitionKey" | "sortKey">) =>
    [partitionKey, sortKey].flatMap((key, index) => {
      if (key === undefined) return [];
      const attribute = typeof key === "string" ? ({ name: key, type: "S" } as const) : key;
      attributes.set(attribute.name, attribute.type);
      return [{ AttributeName: attribute.name, KeyType: index === 0 ? "HASH" : "RANGE" } as const];
    });
  const KeySchema = schemaOf(table);
  const indexes = Object.entries(table.indexes ?? {}).map(([IndexName, index]) => ({
    IndexName,
    KeySchema: schemaOf(index),
    Projection: projectionOf(index),
  }));
  const view = table.stream === true ? "NEW_AND_OLD_IMAGES" : table.stream;
  return {
    TableName: name,
    BillingMode: "PAY_PER_REQUEST",
    KeySchema,
    AttributeDefinitions: [...attributes].map(([AttributeName, AttributeType]) => ({
      AttributeName,
      AttributeType,
    })),
    ...(indexes.length > 0 && { GlobalSecondaryIndexes: indexes }),
    ...(view && { StreamSpecification: { StreamEnabled: true, StreamViewType: view } }),
  };
}

function projectionOf({ projection = "ALL" }: SimulatedIndex) {
  return typeof projection === "string"
    ? { ProjectionType: projection }
    : { ProjectionType: "INCLUDE", NonKeyAttributes: projection };
}

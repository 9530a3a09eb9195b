/** CreateTable. The table is ready immediately; in AWS it is CREATING for some seconds. */
import { DynamoDBError, invalid, invalidParameterValues } from "../dynamodb-error.ts";
import type { DynamoDBService } from "../dynamodb-service.ts";
import type { DynamoDBHandler } from "../handler.ts";
import { openStream } from "../streams/open-stream.ts";
import type { CreateTableInput, GlobalSecondaryIndexInput } from "../table-operations.ts";
import { describe } from "./describe-table.ts";
import { type AttributeDefinition, type KeySchema, keyNames, readKeySchema } from "./key-schema.ts";
import { projectedNames, type SecondaryIndex } from "./secondary-index.ts";
import { Table } from "./table.ts";
import { checkTableName } from "./table-name.ts";

const SCALAR_TYPES = ["S", "N", "B"];
const MAX_INDEXES = 20;

export const createTable: DynamoDBHandler<"CreateTable"> = (service, input) => {
  checkTableName(input.TableName);
  const definitions = readDefinitions(input.AttributeDefinitions);
  const schema = readKeySchema(input.KeySchema, definitions);
  const indexes = readIndexes(input.GlobalSecondaryIndexes, schema, definitions);
  checkDefinitionsAreUsed(definitions, [schema, ...indexes.map((index) => index.schema)]);
  checkBilling(input);
  if (service.tables.has(input.TableName)) {
    throw new DynamoDBError("ResourceInUseException", `Table already exists: ${input.TableName}`);
  }
  const table = new Table(
    {
      name: input.TableName,
      arn: service.arnOf(`table/${input.TableName}`),
      schema,
      indexes,
      description: {
        AttributeDefinitions: definitions,
        KeySchema: input.KeySchema,
        ...billingOf(input, service),
        DeletionProtectionEnabled: input.DeletionProtectionEnabled ?? false,
      },
    },
    service.now(),
    input.DeletionProtectionEnabled ?? false,
  );
  openStream(service, table, input.StreamSpecification);
  service.tables.set(input.TableName, table);
  return { TableDescription: describe(table) };
};

function readDefinitions(input: readonly AttributeDefinition[] | undefined): readonly AttributeDefinition[] {
  for (const { AttributeName, AttributeType } of input ?? []) {
    if (SCALAR_TYPES.includes(AttributeType)) continue;
    throw invalid(
      `1 validation error detected: Value '${AttributeType}' of attribute ${AttributeName} failed to satisfy constraint: Member must satisfy enum value set: [B, N, S]`,
    );
  }
  return input ?? [];
}

function readIndexes(
  inputs: readonly GlobalSecondaryIndexInput[] | undefined,
  tableSchema: KeySchema,
  definitions: readonly AttributeDefinition[],
): readonly SecondaryIndex[] {
  if (inputs === undefined) return [];
  if (inputs.length === 0) throw invalidParameterValues("List of GlobalSecondaryIndexes is empty");
  if (inputs.length > MAX_INDEXES) {
    throw new DynamoDBError("LimitExceededException", `a table has at most ${MAX_INDEXES} indexes`);
  }
  if (new Set(inputs.map(({ IndexName }) => IndexName)).size < inputs.length) {
    throw invalidParameterValues("Duplicate index name");
  }
  return inputs.map((input) => readIndex(input, tableSchema, definitions));
}

function readIndex(
  input: GlobalSecondaryIndexInput,
  tableSchema: KeySchema,
  definitions: readonly AttributeDefinition[],
): SecondaryIndex {
  checkTableName(input.IndexName);
  const schema = readKeySchema(input.KeySchema, definitions);
  const { ProjectionType, NonKeyAttributes } = input.Projection ?? {};
  const isInclude = ProjectionType === "INCLUDE";
  if (!isInclude && ProjectionType !== "ALL" && ProjectionType !== "KEYS_ONLY") {
    throw invalidParameterValues(`Unknown ProjectionType: ${ProjectionType}`);
  }
  if (isInclude !== (NonKeyAttributes !== undefined)) {
    throw invalidParameterValues(
      `ProjectionType is ${ProjectionType}, but NonKeyAttributes is ${isInclude ? "not " : ""}specified`,
    );
  }
  return {
    name: input.IndexName,
    schema,
    projected:
      ProjectionType === "ALL" ? undefined : projectedNames(schema, tableSchema, NonKeyAttributes ?? []),
    description: { KeySchema: input.KeySchema, Projection: input.Projection },
  };
}

function checkDefinitionsAreUsed(
  definitions: readonly AttributeDefinition[],
  schemas: readonly KeySchema[],
): void {
  const used = new Set(schemas.flatMap(keyNames));
  if (definitions.every(({ AttributeName }) => used.has(AttributeName))) return;
  throw invalidParameterValues(
    "Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions",
  );
}

function checkBilling({ BillingMode, ProvisionedThroughput }: CreateTableInput): void {
  const isOnDemand = BillingMode === "PAY_PER_REQUEST";
  if (isOnDemand && ProvisionedThroughput !== undefined) {
    throw invalidParameterValues(
      "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST",
    );
  }
  if (!isOnDemand && ProvisionedThroughput === undefined) {
    throw invalidParameterValues(
      "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED",
    );
  }
}

function billingOf(input: CreateTableInput, service: DynamoDBService): object {
  const onDemand = {
    BillingMode: "PAY_PER_REQUEST",
    LastUpdateToPayPerRequestDateTime: service.now() / 1000,
  };
  return {
    ...(input.BillingMode === "PAY_PER_REQUEST" && { BillingModeSummary: onDemand }),
    ProvisionedThroughput: {
      NumberOfDecreasesToday: 0,
      ReadCapacityUnits: input.ProvisionedThroughput?.ReadCapacityUnits ?? 0,
      WriteCapacityUnits: input.ProvisionedThroughput?.WriteCapacityUnits ?? 0,
    },
  };
}

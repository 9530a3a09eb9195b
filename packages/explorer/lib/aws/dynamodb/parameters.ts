/**
 * The parameters that each operation accepts. The model rejects a parameter that it doesn't know, because a
 * condition that is silently ignored gives a wrong answer.
 */
import { invalid, invalidParameterValues } from "./dynamodb-error.ts";
import type { DynamoDBOperationName } from "./operations.ts";

const PLACEHOLDERS = ["ExpressionAttributeNames", "ExpressionAttributeValues"];
const CONDITIONAL = [
  "TableName",
  "ConditionExpression",
  "ReturnValuesOnConditionCheckFailure",
  ...PLACEHOLDERS,
];
const WRITE = ["ReturnConsumedCapacity", "ReturnItemCollectionMetrics"];
const SINGLE_WRITE = [...CONDITIONAL, ...WRITE, "ReturnValues"];
const GET = ["TableName", "Key", "ProjectionExpression", "ExpressionAttributeNames"];
const READ = [
  "TableName",
  "IndexName",
  "FilterExpression",
  "ProjectionExpression",
  "Select",
  "Limit",
  "ExclusiveStartKey",
  "ConsistentRead",
  "ReturnConsumedCapacity",
  ...PLACEHOLDERS,
];

const PARAMETERS: Readonly<Record<DynamoDBOperationName, readonly string[]>> = {
  BatchExecuteStatement: ["Statements", "ReturnConsumedCapacity"],
  BatchGetItem: ["RequestItems", "ReturnConsumedCapacity"],
  BatchWriteItem: ["RequestItems", ...WRITE],
  CreateTable: [
    "TableName",
    "KeySchema",
    "AttributeDefinitions",
    "GlobalSecondaryIndexes",
    "BillingMode",
    "ProvisionedThroughput",
    "StreamSpecification",
    "DeletionProtectionEnabled",
    "SSESpecification",
    "TableClass",
    "Tags",
  ],
  DeleteItem: [...SINGLE_WRITE, "Key"],
  DeleteTable: ["TableName"],
  DescribeStream: ["StreamArn", "Limit", "ExclusiveStartShardId"],
  DescribeTable: ["TableName"],
  DescribeTimeToLive: ["TableName"],
  GetItem: [...GET, "ConsistentRead", "ReturnConsumedCapacity"],
  GetRecords: ["ShardIterator", "Limit"],
  GetShardIterator: ["StreamArn", "ShardId", "ShardIteratorType", "SequenceNumber"],
  ListStreams: ["TableName", "Limit", "ExclusiveStartStreamArn"],
  ListTables: ["Limit", "ExclusiveStartTableName"],
  PutItem: [...SINGLE_WRITE, "Item"],
  Query: [...READ, "KeyConditionExpression", "ScanIndexForward"],
  Scan: [...READ, "Segment", "TotalSegments"],
  TransactGetItems: ["TransactItems", "ReturnConsumedCapacity"],
  TransactWriteItems: ["TransactItems", "ClientRequestToken", ...WRITE],
  UpdateItem: [...SINGLE_WRITE, "Key", "UpdateExpression"],
  UpdateTimeToLive: ["TableName", "TimeToLiveSpecification"],
};

const CHOICES: Readonly<Record<string, readonly string[]>> = {
  ReturnConsumedCapacity: ["INDEXES", "TOTAL", "NONE"],
  ReturnItemCollectionMetrics: ["SIZE", "NONE"],
  ReturnValues: ["ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"],
  ReturnValuesOnConditionCheckFailure: ["ALL_OLD", "NONE"],
};

const REQUIRED = [
  "TableName",
  "Key",
  "Item",
  "RequestItems",
  "Statements",
  "TransactItems",
  "StreamArn",
  "ShardIterator",
];
const OPTIONAL_IN: Partial<Record<DynamoDBOperationName, readonly string[]>> = { ListStreams: ["TableName"] };

/** @throws DynamoDBError `ValidationException` */
export function checkParameters(
  operation: DynamoDBOperationName,
  input: Readonly<Record<string, unknown>>,
): void {
  const known = PARAMETERS[operation];
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined || value === null) continue;
    if (!known.includes(name)) {
      throw invalidParameterValues(
        `the DynamoDB model doesn't support the parameter ${name} of ${operation}`,
      );
    }
    checkChoice(name, value);
  }
  for (const name of REQUIRED) {
    const isNeeded = known.includes(name) && !OPTIONAL_IN[operation]?.includes(name);
    if (isNeeded && (input[name] === undefined || input[name] === null)) {
      throw invalid(
        `1 validation error detected: Value null at '${name}' failed to satisfy constraint: Member must not be null`,
      );
    }
  }
  checkActions(input.TransactItems);
}

/** The parameters of a transaction's actions, which have different names. */
function checkActions(actions: unknown): void {
  if (!Array.isArray(actions)) return;
  for (const action of actions) {
    for (const { ReturnValuesOnConditionCheckFailure: value } of Object.values(Object(action)).map(Object)) {
      if (value !== undefined) checkChoice("ReturnValuesOnConditionCheckFailure", value);
    }
  }
}

function checkChoice(name: string, value: unknown): void {
  const choices = CHOICES[name];
  if (choices === undefined || choices.some((choice) => choice === value)) return;
  throw invalid(
    `1 validation error detected: Value '${value}' at '${name}' failed to satisfy constraint: Member must satisfy enum value set: [${choices.join(", ")}]`,
  );
}

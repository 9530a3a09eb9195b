/** Inputs and outputs of the operations on items, as in the AWS SDK. */
import type { ConsumedCapacity } from "./consumed-capacity.ts";
import type { PlaceholderInput } from "./expressions/placeholders.ts";
import type { AttributeValue, Item } from "./values/attribute-value.ts";

export interface OfTable {
  readonly TableName: string;
}

export interface CapacityOption {
  readonly ReturnConsumedCapacity?: string | undefined;
}

interface Conditional extends OfTable, PlaceholderInput {
  readonly ConditionExpression?: string | undefined;
  readonly ReturnValuesOnConditionCheckFailure?: string | undefined;
}

export interface PutRequest extends Conditional {
  readonly Item: Item;
}

export interface DeleteRequest extends Conditional {
  readonly Key: Item;
}

export interface UpdateRequest extends Conditional {
  readonly Key: Item;
  readonly UpdateExpression?: string | undefined;
}

export interface WriteOptions extends CapacityOption {
  readonly ReturnValues?: string | undefined;
  readonly ReturnItemCollectionMetrics?: string | undefined;
}

export interface SingleWriteOutput {
  readonly Attributes?: Item;
  readonly ConsumedCapacity?: ConsumedCapacity;
}

export interface Projected extends PlaceholderInput {
  readonly ProjectionExpression?: string | undefined;
}

export interface KeysAndAttributes extends Projected {
  readonly Keys: readonly Item[];
  readonly ConsistentRead?: boolean | undefined;
}

export interface WriteRequest {
  readonly PutRequest?: { readonly Item: Item } | undefined;
  readonly DeleteRequest?: { readonly Key: Item } | undefined;
}

export interface TransactGetItem {
  readonly Get?: (OfTable & Projected & { readonly Key: Item }) | undefined;
}

export interface TransactWriteItem {
  readonly Put?: PutRequest | undefined;
  readonly Update?: UpdateRequest | undefined;
  readonly Delete?: DeleteRequest | undefined;
  readonly ConditionCheck?: DeleteRequest | undefined;
}

export interface BatchStatement {
  readonly Statement: string;
  readonly Parameters?: readonly AttributeValue[] | undefined;
  readonly ReturnValuesOnConditionCheckFailure?: string | undefined;
}

export interface BatchStatementResponse {
  readonly TableName?: string;
  readonly Error?: { readonly Code: string; readonly Message: string; readonly Item?: Item | undefined };
}

interface ReadInput extends OfTable, Projected, CapacityOption {
  readonly IndexName?: string | undefined;
  readonly FilterExpression?: string | undefined;
  readonly Select?: string | undefined;
  readonly Limit?: number | undefined;
  readonly ExclusiveStartKey?: Item | undefined;
  readonly ConsistentRead?: boolean | undefined;
}

export interface QueryInput extends ReadInput {
  readonly KeyConditionExpression?: string | undefined;
  readonly ScanIndexForward?: boolean | undefined;
}

export interface ScanInput extends ReadInput {
  readonly Segment?: number | undefined;
  readonly TotalSegments?: number | undefined;
}

export interface PageOutput {
  readonly Items?: readonly Item[];
  readonly Count: number;
  readonly ScannedCount: number;
  readonly LastEvaluatedKey?: Item;
  readonly ConsumedCapacity?: ConsumedCapacity;
}

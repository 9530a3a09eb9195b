/**
 * The model's operations of DynamoDB and its streams, with the inputs and outputs of the AWS SDK.
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Operations.html
 */
import type { ConsumedCapacity } from "./consumed-capacity.ts";
import type {
  BatchStatement,
  BatchStatementResponse,
  CapacityOption,
  DeleteRequest,
  KeysAndAttributes,
  OfTable,
  PageOutput,
  Projected,
  PutRequest,
  QueryInput,
  ScanInput,
  SingleWriteOutput,
  TransactGetItem,
  TransactWriteItem,
  UpdateRequest,
  WriteOptions,
  WriteRequest,
} from "./item-operations.ts";
import type { StreamRecord } from "./streams/stream-record.ts";
import type { CreateTableInput, GetShardIteratorInput, TimeToLive } from "./table-operations.ts";
import type { Item } from "./values/attribute-value.ts";

type Description = Readonly<Record<string, unknown>>;

interface OperationShape<Input, Output> {
  readonly input: Input;
  readonly output: Output;
}

type Capacities = { readonly ConsumedCapacity?: readonly ConsumedCapacity[] };

/** Each operation's input and output, by the name of its SDK command. */
export interface DynamoDBOperations {
  readonly BatchExecuteStatement: OperationShape<
    { readonly Statements: readonly BatchStatement[] } & CapacityOption,
    Capacities & { readonly Responses: readonly BatchStatementResponse[] }
  >;
  readonly BatchGetItem: OperationShape<
    { readonly RequestItems: Readonly<Record<string, KeysAndAttributes>> } & CapacityOption,
    Capacities & {
      readonly Responses: Readonly<Record<string, readonly Item[]>>;
      readonly UnprocessedKeys: Readonly<Record<string, KeysAndAttributes>>;
    }
  >;
  readonly BatchWriteItem: OperationShape<
    { readonly RequestItems: Readonly<Record<string, readonly WriteRequest[]>> } & WriteOptions,
    Capacities & { readonly UnprocessedItems: Readonly<Record<string, readonly WriteRequest[]>> }
  >;
  readonly CreateTable: OperationShape<CreateTableInput, { readonly TableDescription: Description }>;
  readonly DeleteItem: OperationShape<DeleteRequest & WriteOptions, SingleWriteOutput>;
  readonly DeleteTable: OperationShape<OfTable, { readonly TableDescription: Description }>;
  readonly DescribeStream: OperationShape<
    {
      readonly StreamArn: string;
      readonly Limit?: number | undefined;
      readonly ExclusiveStartShardId?: string | undefined;
    },
    { readonly StreamDescription: Description }
  >;
  readonly DescribeTable: OperationShape<OfTable, { readonly Table: Description }>;
  readonly DescribeTimeToLive: OperationShape<OfTable, { readonly TimeToLiveDescription: Description }>;
  readonly GetItem: OperationShape<
    OfTable &
      Projected &
      CapacityOption & { readonly Key: Item; readonly ConsistentRead?: boolean | undefined },
    { readonly Item?: Item; readonly ConsumedCapacity?: ConsumedCapacity }
  >;
  readonly GetRecords: OperationShape<
    { readonly ShardIterator: string; readonly Limit?: number | undefined },
    { readonly Records: readonly StreamRecord[]; readonly NextShardIterator?: string }
  >;
  readonly GetShardIterator: OperationShape<GetShardIteratorInput, { readonly ShardIterator: string }>;
  readonly ListStreams: OperationShape<
    {
      readonly TableName?: string | undefined;
      readonly Limit?: number | undefined;
      readonly ExclusiveStartStreamArn?: string | undefined;
    },
    { readonly Streams: readonly Description[]; readonly LastEvaluatedStreamArn?: string }
  >;
  readonly ListTables: OperationShape<
    { readonly Limit?: number | undefined; readonly ExclusiveStartTableName?: string | undefined },
    { readonly TableNames: readonly string[]; readonly LastEvaluatedTableName?: string }
  >;
  readonly PutItem: OperationShape<PutRequest & WriteOptions, SingleWriteOutput>;
  readonly Query: OperationShape<QueryInput, PageOutput>;
  readonly Scan: OperationShape<ScanInput, PageOutput>;
  readonly TransactGetItems: OperationShape<
    { readonly TransactItems: readonly TransactGetItem[] } & CapacityOption,
    Capacities & { readonly Responses: readonly { readonly Item?: Item }[] }
  >;
  readonly TransactWriteItems: OperationShape<
    {
      readonly TransactItems: readonly TransactWriteItem[];
      readonly ClientRequestToken?: string | undefined;
    } & WriteOptions,
    Capacities
  >;
  readonly UpdateItem: OperationShape<UpdateRequest & WriteOptions, SingleWriteOutput>;
  readonly UpdateTimeToLive: OperationShape<
    OfTable & { readonly TimeToLiveSpecification: TimeToLive },
    { readonly TimeToLiveSpecification: TimeToLive }
  >;
}

export type DynamoDBOperationName = keyof DynamoDBOperations;

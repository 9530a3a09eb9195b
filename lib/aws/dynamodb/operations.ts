/** The operations of DynamoDB and its streams that the model has, with the shapes the AWS SDK gives and takes. https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Operations.html */
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

interface Operation<Input, Output> {
  readonly input: Input;
  readonly output: Output;
}

type Capacities = { readonly ConsumedCapacity?: readonly ConsumedCapacity[] };

export interface DynamoDBOperations {
  readonly BatchExecuteStatement: Operation<
    { readonly Statements: readonly BatchStatement[] } & CapacityOption,
    Capacities & { readonly Responses: readonly BatchStatementResponse[] }
  >;
  readonly BatchGetItem: Operation<
    { readonly RequestItems: Readonly<Record<string, KeysAndAttributes>> } & CapacityOption,
    Capacities & {
      readonly Responses: Readonly<Record<string, readonly Item[]>>;
      readonly UnprocessedKeys: Readonly<Record<string, KeysAndAttributes>>;
    }
  >;
  readonly BatchWriteItem: Operation<
    { readonly RequestItems: Readonly<Record<string, readonly WriteRequest[]>> } & WriteOptions,
    Capacities & { readonly UnprocessedItems: Readonly<Record<string, readonly WriteRequest[]>> }
  >;
  readonly CreateTable: Operation<CreateTableInput, { readonly TableDescription: Description }>;
  readonly DeleteItem: Operation<DeleteRequest & WriteOptions, SingleWriteOutput>;
  readonly DeleteTable: Operation<OfTable, { readonly TableDescription: Description }>;
  readonly DescribeStream: Operation<
    {
      readonly StreamArn: string;
      readonly Limit?: number | undefined;
      readonly ExclusiveStartShardId?: string | undefined;
    },
    { readonly StreamDescription: Description }
  >;
  readonly DescribeTable: Operation<OfTable, { readonly Table: Description }>;
  readonly DescribeTimeToLive: Operation<OfTable, { readonly TimeToLiveDescription: Description }>;
  readonly GetItem: Operation<
    OfTable &
      Projected &
      CapacityOption & { readonly Key: Item; readonly ConsistentRead?: boolean | undefined },
    { readonly Item?: Item; readonly ConsumedCapacity?: ConsumedCapacity }
  >;
  readonly GetRecords: Operation<
    { readonly ShardIterator: string; readonly Limit?: number | undefined },
    { readonly Records: readonly StreamRecord[]; readonly NextShardIterator?: string }
  >;
  readonly GetShardIterator: Operation<GetShardIteratorInput, { readonly ShardIterator: string }>;
  readonly ListStreams: Operation<
    {
      readonly TableName?: string | undefined;
      readonly Limit?: number | undefined;
      readonly ExclusiveStartStreamArn?: string | undefined;
    },
    { readonly Streams: readonly Description[]; readonly LastEvaluatedStreamArn?: string }
  >;
  readonly ListTables: Operation<
    { readonly Limit?: number | undefined; readonly ExclusiveStartTableName?: string | undefined },
    { readonly TableNames: readonly string[]; readonly LastEvaluatedTableName?: string }
  >;
  readonly PutItem: Operation<PutRequest & WriteOptions, SingleWriteOutput>;
  readonly Query: Operation<QueryInput, PageOutput>;
  readonly Scan: Operation<ScanInput, PageOutput>;
  readonly TransactGetItems: Operation<
    { readonly TransactItems: readonly TransactGetItem[] } & CapacityOption,
    Capacities & { readonly Responses: readonly { readonly Item?: Item }[] }
  >;
  readonly TransactWriteItems: Operation<
    {
      readonly TransactItems: readonly TransactWriteItem[];
      readonly ClientRequestToken?: string | undefined;
    } & WriteOptions,
    Capacities
  >;
  readonly UpdateItem: Operation<UpdateRequest & WriteOptions, SingleWriteOutput>;
  readonly UpdateTimeToLive: Operation<
    OfTable & { readonly TimeToLiveSpecification: TimeToLive },
    { readonly TimeToLiveSpecification: TimeToLive }
  >;
}

export type DynamoDBOperationName = keyof DynamoDBOperations;

/**
 * DynamoDB and its streams in the memory of one process, on the caller's clock. The model uses no network, no
 * disk and no environment.
 */
import { type Clock, systemClock } from "onceonly/kit";
import { copied } from "./copy.ts";
import { DynamoDBError } from "./dynamodb-error.ts";
import { DynamoDBService, type StaleRead } from "./dynamodb-service.ts";
import type { DynamoDBHandler } from "./handler.ts";
import { type Intercept, intercepted } from "./intercept.ts";
import type { DynamoDBOperationName, DynamoDBOperations } from "./operations.ts";
import { checkParameters } from "./parameters.ts";
import { batchGetItem } from "./reads/batch-get-item.ts";
import { getItem } from "./reads/get-item.ts";
import { query } from "./reads/query.ts";
import { scan } from "./reads/scan.ts";
import { transactGetItems } from "./reads/transact-get-items.ts";
import { type ModelRequestHandler, requestHandler } from "./request-handler.ts";
import { describeStream, listStreams } from "./streams/describe-stream.ts";
import { getRecords } from "./streams/get-records.ts";
import { getShardIterator } from "./streams/shard-iterator.ts";
import { createTable } from "./tables/create-table.ts";
import { deleteTable, describeTable, listTables } from "./tables/describe-table.ts";
import { deleteExpired, describeTimeToLive, updateTimeToLive } from "./tables/time-to-live.ts";
import { batchExecuteStatement } from "./writes/batch-execute-statement.ts";
import { batchWriteItem } from "./writes/batch-write-item.ts";
import { deleteItem, putItem, updateItem } from "./writes/single-write.ts";
import { transactWriteItems } from "./writes/transact-write-items.ts";

export interface DynamoDBModelOptions {
  /** @default the system's */
  readonly clock?: Clock | undefined;
  /** @default "us-east-1" */
  readonly region?: string | undefined;
  /** @default "000000000000" */
  readonly accountId?: string | undefined;
  /** Wraps every call. */
  readonly intercept?: Intercept | undefined;
  /**
   * Whether an eventually consistent read misses the last write of an item. The model asks for every such
   * read of an item that was written; one answer does not bind the next.
   * @default never
   */
  readonly isStale?: ((read: StaleRead) => boolean) | undefined;
  /**
   * How many seconds after its expiry an item is deleted. The deletion happens at the next call of the model.
   * @default never, except by `sweep`
   */
  readonly ttlLagSeconds?: number | undefined;
}

/** Units as AWS bills them on demand. */
export interface UsedCapacity {
  readonly readUnits: number;
  readonly writeUnits: number;
}

const HANDLERS: { readonly [Name in DynamoDBOperationName]: DynamoDBHandler<Name> } = {
  BatchExecuteStatement: batchExecuteStatement,
  BatchGetItem: batchGetItem,
  BatchWriteItem: batchWriteItem,
  CreateTable: createTable,
  DeleteItem: deleteItem,
  DeleteTable: deleteTable,
  DescribeStream: describeStream,
  DescribeTable: describeTable,
  DescribeTimeToLive: describeTimeToLive,
  GetItem: getItem,
  GetRecords: getRecords,
  GetShardIterator: getShardIterator,
  ListStreams: listStreams,
  ListTables: listTables,
  PutItem: putItem,
  Query: query,
  Scan: scan,
  TransactGetItems: transactGetItems,
  TransactWriteItems: transactWriteItems,
  UpdateItem: updateItem,
  UpdateTimeToLive: updateTimeToLive,
};

/**
 * Tables, indexes, transactions and streams with the semantics that AWS documents. Each call is one step, and
 * only the clock moves time. AWS promises little about how late an index, a replica or a TTL deletion is:
 * the model is never late unless an option makes it so.
 */
export class DynamoDBModel {
  readonly #service: DynamoDBService;
  readonly #intercept: Intercept | undefined;
  readonly #ttlLagSeconds: number | undefined;

  constructor(options: DynamoDBModelOptions = {}) {
    this.#intercept = options.intercept;
    this.#ttlLagSeconds = options.ttlLagSeconds;
    this.#service = new DynamoDBService({
      clock: options.clock ?? systemClock,
      region: options.region ?? "us-east-1",
      accountId: options.accountId ?? "000000000000",
      isStale: options.isStale,
    });
  }

  /**
   * Runs an operation by the name of its SDK command, with the command's input and output.
   * @throws DynamoDBError with the name of AWS's error
   */
  async call<Name extends DynamoDBOperationName>(
    operation: Name,
    input: DynamoDBOperations[Name]["input"],
  ): Promise<DynamoDBOperations[Name]["output"]> {
    return this.#callThrough([this.#intercept], operation, input) as Promise<
      DynamoDBOperations[Name]["output"]
    >;
  }

  /**
   * The `requestHandler` of an AWS SDK client: clients of DynamoDB, document clients and clients of streams
   * then talk to the model. `intercept` wraps only the calls of this handler, outside the model's own
   * interceptor.
   */
  requestHandler({ intercept }: { readonly intercept?: Intercept | undefined } = {}): ModelRequestHandler {
    return requestHandler({
      now: () => this.#service.now(),
      newRequestId: () => this.#service.newId(),
      call: (operation, input) => this.#callThrough([intercept, this.#intercept], operation, input),
    });
  }

  /** The configuration of a client that talks to the model: `new DynamoDBClient(model.clientConfig())`. */
  clientConfig(options: { readonly intercept?: Intercept | undefined } = {}) {
    return {
      region: this.#service.options.region,
      credentials: { accessKeyId: "model", secretAccessKey: "model" },
      requestHandler: this.requestHandler(options),
    };
  }

  /** No item that is there now expires before this time, in epoch ms. */
  soonestExpiry(): number {
    const expiries = [...this.#service.tables.values()].map(({ soonestExpiry }) => soonestExpiry * 1000);
    return Math.min(Number.POSITIVE_INFINITY, ...expiries);
  }

  /** Deletes everything that has expired, as TTL does sooner or later. Returns how many items that were. */
  sweep(): number {
    return deleteExpired(this.#service, 0);
  }

  /** Like `sweep`, but only items that expired at least `ttlLagSeconds` ago. */
  expire(): number {
    return this.#ttlLagSeconds === undefined ? 0 : deleteExpired(this.#service, this.#ttlLagSeconds);
  }

  /** The capacity of all calls for a table, refused calls included. */
  usedCapacity(tableName: string): UsedCapacity {
    const { read, write } = this.#service.table(tableName).units;
    return { readUnits: read, writeUnits: write };
  }

  #callThrough(
    intercepts: readonly (Intercept | undefined)[],
    operation: DynamoDBOperationName,
    input: object,
  ): Promise<unknown> {
    const call = { operation, input: copied(input) as Readonly<Record<string, unknown>> };
    return intercepted(intercepts, call, () => this.#run(operation, call.input));
  }

  #run(operation: DynamoDBOperationName, input: Readonly<Record<string, unknown>>): unknown {
    if (!Object.hasOwn(HANDLERS, operation)) {
      throw new DynamoDBError(
        "UnknownOperationException",
        `the model doesn't support the operation ${operation}`,
      );
    }
    checkParameters(operation, input);
    this.expire();
    const handler = HANDLERS[operation] as (service: DynamoDBService, input: object) => unknown;
    return copied(handler(this.#service, input));
  }
}

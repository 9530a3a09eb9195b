/** Requests to DynamoDB and their answers, over the SDK's client or the lean one. Types only. */
import type {
  BatchExecuteStatementInput,
  BatchExecuteStatementOutput,
  BatchGetItemInput,
  BatchGetItemOutput,
  GetItemInput,
  GetItemOutput,
  PutItemInput,
  PutItemOutput,
  QueryInput,
  QueryOutput,
  TransactWriteItemsInput,
  TransactWriteItemsOutput,
  UpdateItemInput,
  UpdateItemOutput,
} from "@aws-sdk/client-dynamodb";

/** The input of each operation, as in the SDK. */
export interface DynamoDBInputs {
  readonly BatchExecuteStatement: BatchExecuteStatementInput;
  readonly BatchGetItem: BatchGetItemInput;
  readonly GetItem: GetItemInput;
  readonly PutItem: PutItemInput;
  readonly Query: QueryInput;
  readonly TransactWriteItems: TransactWriteItemsInput;
  readonly UpdateItem: UpdateItemInput;
}

interface Outputs {
  readonly BatchExecuteStatement: BatchExecuteStatementOutput;
  readonly BatchGetItem: BatchGetItemOutput;
  readonly GetItem: GetItemOutput;
  readonly PutItem: PutItemOutput;
  readonly Query: QueryOutput;
  readonly TransactWriteItems: TransactWriteItemsOutput;
  readonly UpdateItem: UpdateItemOutput;
}

export type OperationName = keyof DynamoDBInputs;

/** The output of an operation, as in the SDK. */
export type DynamoDBAnswer<Name extends OperationName> = Outputs[Name] & {
  /** The database's time (epoch ms), if the answer included it. */
  readonly serverTimeMs?: number | undefined;
};

export interface Connection {
  /**
   * Sends one request, and retries it according to its settings. Rejects with an SDK-style error: `name`, `message`, `$metadata`
   * with `httpStatusCode` and `attempts`, and `Item` and `CancellationReasons` if there are any.
   */
  send<Name extends OperationName>(
    operation: Name,
    input: DynamoDBInputs[Name],
  ): Promise<DynamoDBAnswer<Name>>;
}

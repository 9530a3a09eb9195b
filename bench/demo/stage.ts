// The sample on local engines, with the fault proxy between its functions and DynamoDB.
import { startFaultProxy } from "../../lib/local/fault-proxy.ts";
import { type DynamoDBEngine, type FunctionHost, startDynamoDB, startStack } from "../../lib/local/index.ts";
import type { Faults } from "./faults.ts";
import { openTables, type TableNames, type Tables } from "./tables.ts";

export interface StageOptions {
  /** The folder of the CDK app. */
  readonly folder: string;
  /** A DynamoDB that runs already. @default - one is started */
  readonly dynamodbEndpoint?: string | undefined;
  readonly decide: Faults["decide"];
  readonly signal: AbortSignal;
}

export interface Stage {
  readonly engine: DynamoDBEngine["engine"];
  readonly url: string;
  readonly createOrder: FunctionHost;
  readonly tableNames: TableNames;
  readonly tables: Tables;
  /** Requests that the functions sent to DynamoDB so far. */
  databaseRequests(): number;
  lostAnswers(): number;
  stop(): Promise<void>;
}

export async function startStage({ folder, decide, signal, ...given }: StageOptions): Promise<Stage> {
  const undos: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (let undo = undos.pop(); undo; undo = undos.pop()) await undo();
  };
  try {
    const dynamodb = await startDynamoDB({ endpoint: given.dynamodbEndpoint });
    undos.push(dynamodb.stop);
    const proxy = await startFaultProxy({ target: dynamodb.endpoint, decide });
    undos.push(proxy.stop);
    const stack = await startStack({
      folder,
      dynamodbEndpoint: dynamodb.endpoint,
      functionEnvironment: { AWS_ENDPOINT_URL_DYNAMODB: proxy.endpoint },
      signal,
    });
    undos.push(stack.stop);
    const tableNames = {
      orders: found("table Orders", stack.tables.Orders?.name),
      records: found("table Idempotency", stack.tables.Idempotency?.name),
    };
    const tables = openTables(dynamodb.endpoint, tableNames);
    undos.push(async () => tables.close());
    return {
      engine: dynamodb.engine,
      url: found("HTTP API", stack.url),
      createOrder: found("function CreateOrder", stack.functions.CreateOrder?.host),
      tableNames,
      tables,
      databaseRequests: () => proxy.counts().requests,
      lostAnswers: () => proxy.counts().lost,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function found<T>(what: string, value: T | undefined): T {
  if (value === undefined) throw new Error(`the stack has no ${what}; the demo needs the one of the sample`);
  return value;
}

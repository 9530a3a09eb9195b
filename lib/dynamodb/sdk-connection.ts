/** Over a client of the SDK: directly, or through its `send`, all of its middleware included. */
import {
  BatchExecuteStatementCommand,
  BatchGetItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import type { Answer, Connection, Inputs, OperationName } from "./connection.ts";
import { DirectConnection } from "./direct-connection.ts";
import type { ClientOptions } from "./options.ts";
import type { SdkClient } from "./sdk-client.ts";
import { SERVER_TIME, untouched } from "./untouched-client.ts";

const COMMANDS: { readonly [Name in OperationName]: new (input: Inputs[Name]) => object } = {
  BatchExecuteStatement: BatchExecuteStatementCommand,
  BatchGetItem: BatchGetItemCommand,
  GetItem: GetItemCommand,
  PutItem: PutItemCommand,
  Query: QueryCommand,
  TransactWriteItems: TransactWriteItemsCommand,
  UpdateItem: UpdateItemCommand,
};

/** The database's time (epoch ms) by the answer that told it. */
const serverTimes = new WeakMap<object, number>();

const watched = new WeakSet<object>();

/** Over the caller's client, or one of ours. */
export function sdkConnection({ client, direct }: ClientOptions): Connection {
  const used = (client as DynamoDBClient | undefined) ?? defaultClient();
  watchServerTime(used);
  const through: Connection = {
    async send<Name extends OperationName>(operation: Name, input: Inputs[Name]) {
      const answer = await used.send(new COMMANDS[operation](input) as GetItemCommand);
      return { ...answer, serverTimeMs: answer && serverTimes.get(answer) } as Answer<Name>;
    },
  };
  if (direct === false) return through;
  const sdkClient = used as unknown as SdkClient;
  return new DirectConnection(
    sdkClient,
    untouched(sdkClient, client ? referenceClient : () => sdkClient),
    through,
  );
}

let reference: SdkClient | undefined;

function referenceClient(): SdkClient {
  reference ??= new DynamoDBClient({ region: "us-east-1" }) as unknown as SdkClient;
  return reference;
}

function defaultClient(): DynamoDBClient {
  return new DynamoDBClient({
    // Without the last one a request that is over its time is only warned about.
    requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
    // The middleware of a command is the same each time.
    cacheMiddleware: true,
  });
}

/**
 * Notes the database's time from every answer of this client. Once for each client and before its first request, since a
 * client with `cacheMiddleware` takes no notice of what is added to a single request, or later.
 */
function watchServerTime({ middlewareStack }: Partial<DynamoDBClient>): void {
  // Test doubles have no stack, and tell no time.
  if (!middlewareStack || watched.has(middlewareStack)) return;
  watched.add(middlewareStack);
  middlewareStack.add(
    (next) =>
      async function readServerTime(args) {
        const answer = await next(args);
        const { date } = (answer.response as { headers?: Record<string, string> }).headers ?? {};
        const time = Date.parse(`${date}`);
        if (time && answer.output) serverTimes.set(answer.output, time);
        return answer;
      },
    // Outside of what makes an output of the response. It has no name: another copy of this package may add its own.
    { step: "deserialize", priority: "high", tags: [SERVER_TIME] },
  );
}

/** Connection through the `send` of an SDK client. */
import {
  BatchExecuteStatementCommand,
  BatchGetItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { answerWithin } from "../core/answer-within.ts";
import { systemClock } from "../core/clock.ts";
import { InvalidOptionError } from "../core/errors.ts";
import type { Connection, DynamoDBAnswer, DynamoDBInputs, OperationName } from "./connection.ts";
import type { ClientOptions } from "./options.ts";
import { makeClient } from "./own-client.ts";
import { loadedSdkVersions } from "./sdk-versions.ts";

const COMMANDS: { readonly [Name in OperationName]: new (input: DynamoDBInputs[Name]) => object } = {
  BatchExecuteStatement: BatchExecuteStatementCommand,
  BatchGetItem: BatchGetItemCommand,
  GetItem: GetItemCommand,
  PutItem: PutItemCommand,
  Query: QueryCommand,
  TransactWriteItems: TransactWriteItemsCommand,
  UpdateItem: UpdateItemCommand,
};

/** The database's time (epoch ms), keyed by the response that carried it. */
const serverTimes = new WeakMap<object, number>();

const watched = new WeakSet<object>();

/** Longer than the tries of a client with timeouts usually last, and short enough for most invocations to continue. */
const PATIENCE_MS = 10_000;

/**
 * How long a call waits for an answer from the caller's own client, unless its deadline comes first. By the system's clock: a
 * test's clock may run ahead of a real database.
 */
export const GIVEN_CLIENT = { patienceMs: PATIENCE_MS, patienceClock: systemClock };

/**
 * Uses the caller's client, or makes one.
 * @throws InvalidOptionError (`INVALID_OPTION`) when the client can't send the commands of the SDK that is loaded here
 */
export function sdkConnection({ client }: ClientOptions): Connection {
  if (client === undefined) return throughSend(makeClient());
  refuseOtherSdk(client as DynamoDBClient);
  return ending(throughSend(client as DynamoDBClient));
}

/** The SDK's client has no timeouts unless configured: a request whose connection goes silent would never end. */
function ending(connection: Connection): Connection {
  return {
    send: (operation, input) =>
      answerWithin(
        systemClock,
        PATIENCE_MS,
        connection.send(operation, input),
        () => new DOMException("no response within 10 s", "TimeoutError"),
      ),
  };
}

function throughSend(client: DynamoDBClient): Connection {
  watchServerTime(client);
  return {
    async send<Name extends OperationName>(operation: Name, input: DynamoDBInputs[Name]) {
      const answer = await client.send(new COMMANDS[operation](input) as GetItemCommand);
      return { ...answer, serverTimeMs: answer && serverTimes.get(answer) } as DynamoDBAnswer<Name>;
    },
  };
}

/** Commands of newer SDK versions need middleware that older clients don't have: every request would fail. */
function refuseOtherSdk({ middlewareStack, config }: Partial<DynamoDBClient>): void {
  // Test doubles have neither.
  if (!middlewareStack || !config) return;
  try {
    new GetItemCommand({ TableName: "", Key: {} }).resolveMiddleware(middlewareStack, config as never, {});
  } catch {
    const rule = `comes from an older copy of @aws-sdk/client-dynamodb than the one that onceonly loads (${loadedSdkVersions()}): install a single version`;
    throw new InvalidOptionError("client", rule);
  }
}

/**
 * Notes the database's time from every response of this client. Added once per client, before its first request: a client with
 * `cacheMiddleware` ignores middleware that is added later or to a single request.
 */
function watchServerTime({ middlewareStack }: Partial<DynamoDBClient>): void {
  // Test doubles have no stack, and no server time.
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
    // Runs outside the middleware that turns the response into an output. It has no name, so that another copy of this package
    // can add its own.
    { step: "deserialize", priority: "high" },
  );
}

/** Sends a request to DynamoDB. Returns the item whose condition refused the write, and the database's time. */
import type {
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { readRefusedItem } from "./errors.ts";
import type { Item } from "./values.ts";

export type Request =
  | GetItemCommand
  | PutItemCommand
  | QueryCommand
  | TransactWriteItemsCommand
  | UpdateItemCommand;

export interface Answer {
  /** The item whose condition refused; empty if there is none. */
  readonly refusedBy?: Item;
  /** The item that was read. */
  readonly Item?: Item;
  /** A page of what was found, and where the next one begins. */
  readonly Items?: readonly Item[];
  readonly Count?: number;
  readonly LastEvaluatedKey?: Item;
  /** The item as it is once it is written. */
  readonly Attributes?: Item;
  readonly serverTimeMs?: number | undefined;
}

/** The database's time (epoch ms) by the answer that told it. */
const serverTimes = new WeakMap<object, number>();

const watched = new WeakSet<object>();

/**
 * Notes the database's time from every answer of this client. Once for each client and before its first request, since a
 * client with `cacheMiddleware` takes no notice of what is added to a single request, or later.
 */
export function watchServerTime({ middlewareStack }: Partial<DynamoDBClient>): void {
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
    // Outside of what makes an output of the response.
    { step: "deserialize", priority: "high", name: "onceonlyServerTime" },
  );
}

/** @throws TransactionConditionError, StoreUnavailableError */
export async function send(client: DynamoDBClient, request: Request): Promise<Answer> {
  try {
    const answer = await client.send(request as UpdateItemCommand);
    return { ...answer, serverTimeMs: answer && serverTimes.get(answer) };
  } catch (error) {
    return { refusedBy: readRefusedItem(error) };
  }
}

/** Sends a request to DynamoDB. Whose condition refused it is an answer, and so is the database's time. */
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
  readonly LastEvaluatedKey?: Item;
  /** The item as it was before it was written. */
  readonly Attributes?: Item;
  readonly serverTimeMs?: number | undefined;
}

/** @throws TransactionConditionError, StoreUnavailableError */
export async function send(client: DynamoDBClient, request: Request): Promise<Answer> {
  let date: string | undefined;
  const command = request as UpdateItemCommand;
  command.middlewareStack.add(
    (next) =>
      async function readServerTime(args) {
        const answer = await next(args);
        date = (answer.response as { headers?: Record<string, string> }).headers?.date;
        return answer;
      },
    { step: "deserialize" },
  );
  try {
    const answer = await client.send(command);
    return { ...answer, serverTimeMs: Date.parse(`${date}`) || undefined };
  } catch (error) {
    return { refusedBy: readRefusedItem(error) };
  }
}

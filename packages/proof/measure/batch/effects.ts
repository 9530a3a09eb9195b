// A message's effect: it adds 1 to its order's counter, so a second run shows. Counts the results.
import {
  type DynamoDBClient,
  paginateScan,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from "@aws-sdk/client-dynamodb";
import type { DynamoDBWrite } from "onceonly/dynamodb";

export interface Effects {
  /** Orders whose effect happened more than once. */
  readonly doubled: number;
  /** Orders without any. */
  readonly missing: number;
}

const ADD_ONE = "ADD runs :one";

export function effectWrite(TableName: string, id: string): DynamoDBWrite {
  return {
    Update: { TableName, Key: { id }, UpdateExpression: ADD_ONE, ExpressionAttributeValues: { ":one": 1 } },
  };
}

/** The same as a separate request. */
export function writeEffect(client: DynamoDBClient, TableName: string, id: string): Promise<unknown> {
  return client.send(new UpdateItemCommand(effectUpdate(TableName, id)));
}

/** Its input. */
export function effectUpdate(TableName: string, id: string): UpdateItemCommandInput {
  const values = { ":one": { N: "1" } };
  return { TableName, Key: { id: { S: id } }, UpdateExpression: ADD_ONE, ExpressionAttributeValues: values };
}

interface Update {
  readonly TableName?: string;
  readonly Key?: { readonly id?: { readonly S?: string } };
}

/** The orders whose effects a request writes, singly or in a transaction. */
export function orderIdsIn(input: object, tableName: string): readonly string[] {
  const { TransactItems } = input as { TransactItems?: readonly { readonly Update?: Update }[] };
  const actions = TransactItems ?? [{ Update: input as Update }];
  return actions.flatMap(({ Update }) => (Update?.TableName === tableName ? (Update.Key?.id?.S ?? []) : []));
}

export async function countEffects(
  client: DynamoDBClient,
  TableName: string,
  orderIds: ReadonlySet<string>,
): Promise<Effects> {
  let doubled = 0;
  const seen = new Set<string>();
  for await (const { Items = [] } of paginateScan({ client }, { TableName, ConsistentRead: true })) {
    for (const { id, runs } of Items) {
      seen.add(String(id?.S));
      if (runs?.N !== "1") doubled++;
    }
  }
  const missing = [...orderIds].filter((id) => !seen.has(id)).length;
  return { doubled, missing };
}

/** Actions of transactions, for cases. */
import type { TransactWriteItem } from "../../../../lib/aws/dynamodb/item-operations.ts";
import type { DynamoDBOperations } from "../../../../lib/aws/dynamodb/operations.ts";
import { N, newKey, plainTable } from "./given.ts";
import type { DynamoDBSubject } from "./subject.ts";

export type Item = NonNullable<TransactWriteItem["Put"]>["Item"];
export type At = { readonly TableName: string; readonly Key: Item };
export type Input = Omit<DynamoDBOperations["TransactWriteItems"]["input"], "TransactItems">;

export const put = ({ TableName, Key }: At, more: object = {}): TransactWriteItem => ({
  Put: { TableName, Item: { ...Key, a: N(1) }, ...more },
});
export const remove = (at: At, more: object = {}): TransactWriteItem => ({ Delete: { ...at, ...more } });
export const check = (at: At, ConditionExpression: string, more: object = {}): TransactWriteItem => ({
  ConditionCheck: { ...at, ConditionExpression, ...more },
});
export const countUp = (at: At, more: object = {}): TransactWriteItem => ({
  Update: {
    ...at,
    UpdateExpression: "ADD a :one",
    ExpressionAttributeValues: { ":one": N(1) },
    ...more,
  },
});
export const [THERE, ABSENT] = ["attribute_exists(pk)", "attribute_not_exists(pk)"];

export const transact = (subject: DynamoDBSubject, actions: readonly TransactWriteItem[], more: Input = {}) =>
  subject.call("TransactWriteItems", { TransactItems: actions, ...more });

export async function nowhere(subject: DynamoDBSubject): Promise<At> {
  return { TableName: await plainTable(subject), Key: newKey() };
}

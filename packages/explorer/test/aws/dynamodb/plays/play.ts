/** Does the steps of a play to a table, and returns what a caller sees of each, and what is stored in the end. */
import type { CancellationReason } from "../../../../lib/aws/dynamodb/dynamodb-error.ts";
import type { TransactWriteItem } from "../../../../lib/aws/dynamodb/item-operations.ts";
import type { Item } from "../../../../lib/aws/dynamodb/values/attribute-value.ts";
import { formatDecimal, parseDecimal } from "../../../../lib/aws/dynamodb/values/decimal.ts";
import { sorted } from "../cases/expression-case.ts";
import { newTable, S } from "../cases/given.ts";
import type { DynamoDBSubject } from "../cases/subject.ts";
import type { Expression, PlayStep, Write } from "./steps.ts";

export interface Outcome {
  readonly answers: readonly unknown[];
  readonly items: unknown;
  readonly index: unknown;
}

interface Refusal extends Error {
  readonly Item?: Item;
  readonly CancellationReasons?: readonly CancellationReason[];
}

const ALL_OLD = { ReturnValuesOnConditionCheckFailure: "ALL_OLD" } as const;

export async function played(subject: DynamoDBSubject, steps: readonly PlayStep[]): Promise<Outcome> {
  const TableName = await newTable(subject, {
    indexes: [
      {
        name: "index",
        keys: [
          ["g", "S"],
          ["n", "N"],
        ],
      },
    ],
  });
  const answers: unknown[] = [];
  for (const step of steps) answers.push(await answerTo(take(subject, TableName, step)));
  const { Items = [] } = await subject.call("Scan", { TableName, ConsistentRead: true });
  const { Items: indexed = [] } = await subject.call("Scan", { TableName, IndexName: "index" });
  return { answers, items: inAnyOrder(Items), index: inAnyOrder(indexed) };
}

function take(subject: DynamoDBSubject, TableName: string, step: PlayStep): Promise<object> {
  if (step.do === "write") return single(subject, TableName, step.write);
  if (step.do === "batch") {
    const requests = step.writes.map(({ kind, key, attributes }) =>
      kind === "put"
        ? { PutRequest: { Item: { ...attributes, pk: S(key) } } }
        : { DeleteRequest: { Key: { pk: S(key) } } },
    );
    return subject.call("BatchWriteItem", { RequestItems: { [TableName]: requests } });
  }
  const TransactItems = step.writes.map((write) => actionOf(TableName, write));
  const ClientRequestToken = step.token && `${step.token}-${TableName}`.slice(0, 36);
  return subject.call("TransactWriteItems", {
    TransactItems,
    ...(ClientRequestToken && { ClientRequestToken }),
  });
}

function single(subject: DynamoDBSubject, TableName: string, write: Write): Promise<object> {
  const Key = { pk: S(write.key) };
  if (write.kind === "put") {
    const Item = { ...write.attributes, ...Key };
    return subject.call("PutItem", { TableName, Item, ...conditionOf(write), ReturnValues: "ALL_OLD" });
  }
  if (write.kind === "delete") {
    return subject.call("DeleteItem", { TableName, Key, ...conditionOf(write), ReturnValues: "ALL_OLD" });
  }
  return subject.call("UpdateItem", { TableName, Key, ...updateOf(write), ReturnValues: "ALL_NEW" });
}

function actionOf(TableName: string, write: Write): TransactWriteItem {
  const Key = { pk: S(write.key) };
  switch (write.kind) {
    case "put":
      return { Put: { TableName, Item: { ...write.attributes, ...Key }, ...conditionOf(write) } };
    case "delete":
      return { Delete: { TableName, Key, ...conditionOf(write) } };
    case "update":
      return { Update: { TableName, Key, ...updateOf(write) } };
    case "check": {
      const condition = write.condition ?? { text: "attribute_exists(pk)", values: {} };
      return { ConditionCheck: { TableName, Key, ...expressions({ ConditionExpression: condition }) } };
    }
  }
}

function conditionOf({ condition }: Write) {
  return condition ? { ...expressions({ ConditionExpression: condition }), ...ALL_OLD } : {};
}

function updateOf({ update, condition }: Write) {
  return {
    ...expressions({ UpdateExpression: update, ...(condition && { ConditionExpression: condition }) }),
    ...ALL_OLD,
  };
}

/** With the values that are used, and no others. Two expressions share their values. */
function expressions(parts: Readonly<Record<string, Expression>>) {
  const all = Object.values(parts);
  const text = all.map((part) => part.text).join(" ");
  const used = Object.entries(Object.assign({}, ...all.map(({ values }) => values)) as Item).filter(
    ([name]) => new RegExp(`${name}\\b`).test(text),
  );
  return {
    ...Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, part.text])),
    ...(used.length > 0 && { ExpressionAttributeValues: Object.fromEntries(used) }),
  };
}

async function answerTo(call: Promise<object>): Promise<unknown> {
  try {
    const { Attributes } = (await call) as { readonly Attributes?: Item };
    return comparable(Attributes);
  } catch (error) {
    const { name, Item: item, CancellationReasons = [] } = error as Refusal;
    return [name, comparable(item), ...CancellationReasons.map(({ Code, Item }) => [Code, comparable(Item)])];
  }
}

function inAnyOrder(items: readonly Item[]): unknown {
  return items.map((item) => JSON.stringify(comparable(item))).sort();
}

/** Without the order of attributes and sets, and with numbers in their plain form, which DynamoDB Local does not give them in documents. */
function comparable(item: Item | undefined): unknown {
  const text = JSON.stringify(sorted(item), (name, value) => {
    if (name === "N" && typeof value === "string") return formatDecimal(parseDecimal(value));
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([first], [second]) => (first < second ? -1 : 1)));
  });
  return JSON.parse(text);
}

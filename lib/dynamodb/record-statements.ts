/**
 * First claims and completions as PartiQL statements. No I/O.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.html
 */
import type { AttributeValue, BatchStatementRequest } from "@aws-sdk/client-dynamodb";
import type { DynamoDBInputs } from "./connection.ts";
import { type Attribute, MINE, type RecordTable, UNFINISHED } from "./record-table.ts";

/** Whether a statement can name the table: by its name only, with attribute names that need no escape. */
export function canBeStated({ TableName, names, keyOf }: RecordTable): boolean {
  const all = [TableName, ...Object.values(names), ...Object.keys(keyOf(""))];
  return all.every((name) => /^[\w.-]+$/.test(name));
}

/** Inserts as PutItem does under its condition; `undefined` for other puts. */
export function insertion(
  { TableName, absent, names }: RecordTable,
  { Item, ...input }: DynamoDBInputs["PutItem"],
): BatchStatementRequest | undefined {
  const isFirst = input.ConditionExpression === absent.ConditionExpression;
  // A result in a separate item is too large to be grouped with other requests.
  if (input.TableName !== TableName || !Item?.[names.token] || !isFirst) return undefined;
  const members = Object.keys(Item).map((name) => `'${name}': ?`);
  return {
    Statement: `INSERT INTO "${TableName}" VALUE {${members.join(", ")}}`,
    Parameters: Object.values(Item),
  };
}

/**
 * Updates as UpdateItem does for the holder of a claim; `undefined` for other updates. The statement removes nothing, because a
 * record in progress has none of the attributes that its completion removes, and PartiQL doesn't define removing an absent one.
 */
export function update(
  { TableName, names }: RecordTable,
  { Key, UpdateExpression = "", ...input }: DynamoDBInputs["UpdateItem"],
): BatchStatementRequest | undefined {
  if (input.TableName !== TableName || !Key || input.ConditionExpression !== MINE) return undefined;
  const { ExpressionAttributeNames: aliases = {}, ExpressionAttributeValues: values = {} } = input;
  const [assigning = "", removing = ""] = UpdateExpression.split("REMOVE");
  const nameOf = (written: string): string => aliases[written] ?? written;
  const unfinished = (Object.keys(UNFINISHED) as Attribute[]).map((attribute) => names[attribute]);
  const removed = Array.from(removing.matchAll(/#?\w+/g), ([written]) => nameOf(written));
  if (!removed.every((name) => unfinished.includes(name))) return undefined;
  const assigned = Array.from(
    assigning.matchAll(/(#?\w+) = (:\w+)/g),
    ([, written = "", value = ""]) => [nameOf(written), values[value] as AttributeValue] as const,
  );
  const compared = [
    ...Object.entries(Key),
    [names.token, values[":token"] as AttributeValue] as const,
    [names.state, values[":inProgress"] as AttributeValue] as const,
  ];
  const sets = assigned.map(([name]) => ` SET "${name}" = ?`).join("");
  const conditions = compared.map(([name]) => `"${name}" = ?`).join(" AND ");
  return {
    Statement: `UPDATE "${TableName}"${sets} WHERE ${conditions}`,
    Parameters: [...assigned, ...compared].map(([, value]) => value),
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  };
}

/**
 * The model's PartiQL statements: the insertion of one item, and an update by equality. Each becomes the
 * request with the same effect.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.html
 */
import { invalid } from "../dynamodb-error.ts";
import type { DynamoDBService } from "../dynamodb-service.ts";
import type { BatchStatement } from "../item-operations.ts";
import { keyNames } from "../tables/key-schema.ts";
import type { AttributeValue, Item } from "../values/attribute-value.ts";
import type { PreparedWrite } from "./prepared-write.ts";
import { type Bind, readPut, readUpdate } from "./write-inputs.ts";

const INSERTION = /^INSERT INTO "([^"]+)" VALUE \{('[^']+': \?(?:, '[^']+': \?)*)\}$/;
const UPDATE = /^UPDATE "([^"]+)"((?: SET "[^"]+" = \?)+) WHERE ("[^"]+" = \?(?: AND "[^"]+" = \?)*)$/;

export interface ReadStatement {
  readonly isInsertion: boolean;
  readonly tableName: string;
  readonly bind: Bind;
}

/** @throws DynamoDBError `ValidationException`, also for PartiQL that the model does not know */
export function readStatement({ Statement, Parameters = [], ...options }: BatchStatement): ReadStatement {
  const [, inserted, members = ""] = INSERTION.exec(Statement) ?? [];
  const [, updated, assignments = "", conditions = ""] = UPDATE.exec(Statement) ?? [];
  const tableName = inserted ?? updated;
  if (tableName === undefined) throw invalid("the DynamoDB model doesn't support this PartiQL statement");
  const names = [...quoted(members), ...quoted(assignments), ...quoted(conditions)];
  if (names.length !== Parameters.length) {
    throw invalid("Number of parameters in request and statement don't match.");
  }
  const values = names.map((name, index) => [name, Parameters[index] as AttributeValue] as const);
  if (inserted !== undefined) {
    return { isInsertion: true, tableName, bind: (service) => insertion(service, inserted, values) };
  }
  const count = quoted(assignments).length;
  const parts = { assigned: values.slice(0, count), compared: values.slice(count) };
  return { isInsertion: false, tableName, bind: (service) => update(service, tableName, parts, options) };
}

type NamedValue = readonly [name: string, value: AttributeValue];

function insertion(
  service: DynamoDBService,
  TableName: string,
  values: readonly NamedValue[],
): PreparedWrite {
  const { partition } = service.table(TableName).schema;
  return readPut({
    TableName,
    Item: Object.fromEntries(values),
    ConditionExpression: "attribute_not_exists(#key)",
    ExpressionAttributeNames: { "#key": partition.name },
  })(service);
}

function update(
  service: DynamoDBService,
  TableName: string,
  {
    assigned,
    compared,
  }: { readonly assigned: readonly NamedValue[]; readonly compared: readonly NamedValue[] },
  { ReturnValuesOnConditionCheckFailure }: Omit<BatchStatement, "Statement" | "Parameters">,
): PreparedWrite {
  const keys = keyNames(service.table(TableName).schema);
  const isKey = ([name]: NamedValue) => keys.includes(name);
  const Key = Object.fromEntries(compared.filter(isKey));
  if (Object.keys(Key).length < keys.length)
    throw invalid("Where clause does not contain a mandatory equality on all key attributes");
  const others = compared.filter((pair) => !isKey(pair));
  const sets = assigned.map(([name, value], index) => ({ name, value, at: `s${index}` }));
  const asked = others.map(([name, value], index) => ({ name, value, at: `c${index}` }));
  const all = [...sets, ...asked];
  const equality = ({ at }: { readonly at: string }) => `#${at} = :${at}`;
  return readUpdate({
    TableName,
    Key,
    UpdateExpression: `SET ${sets.map(equality).join(", ")}`,
    // An update in PartiQL never creates an item.
    ConditionExpression: ["attribute_exists(#key)", ...asked.map(equality)].join(" AND "),
    ExpressionAttributeNames: {
      "#key": keys[0] as string,
      ...Object.fromEntries(all.map(({ at, name }) => [`#${at}`, name])),
    },
    ExpressionAttributeValues: Object.fromEntries(all.map(({ at, value }) => [`:${at}`, value])) as Item,
    ReturnValuesOnConditionCheckFailure,
  })(service);
}

function quoted(text: string): string[] {
  return Array.from(text.matchAll(/["']([^"']+)["']/g), ([, name]) => name as string);
}

// The requests of a DynamoDB client as IAM sees them: which action, on which keys, inside what.

import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Conditions } from "../../lib/cdk/leading-keys.ts";
import type { Right } from "../../lib/cdk/record-access.ts";
import { aroundRequests } from "../kit/faults/around-requests.ts";

export interface Seen {
  readonly action: string;
  readonly leadingKey: string | undefined;
  readonly inTransaction: boolean;
  /** Those that it writes or has conditions about. */
  readonly attributes: readonly string[];
}

interface Body {
  readonly TableName?: string;
  readonly Key?: { readonly pk?: { readonly S?: string } };
  readonly Item?: { readonly pk?: { readonly S?: string } };
  readonly ConditionExpression?: string;
  readonly UpdateExpression?: string;
  readonly KeyConditionExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
}

/** What is a word in expressions, and no attribute. */
const WORDS = /^(SET|REMOVE|AND|OR|NOT|IN|attribute_(not_)?exists|attribute_type|begins_with)$/;

function attributesIn(body: Body): string[] {
  const { ConditionExpression, UpdateExpression, KeyConditionExpression, ExpressionAttributeNames } = body;
  const text = [ConditionExpression, UpdateExpression, KeyConditionExpression].join(" ");
  const written = Array.from(text.matchAll(/(?<![:#\w])[a-z]\w*/gi), ([name]) => name);
  return [...written.filter((name) => !WORDS.test(name)), ...Object.values(ExpressionAttributeNames ?? {})];
}

interface Statement {
  readonly Statement: string;
  readonly Parameters: readonly { readonly S?: string }[];
}

interface Input extends Body {
  readonly Statements?: readonly Statement[];
  readonly RequestItems?: Readonly<Record<string, { readonly Keys: readonly NonNullable<Body["Key"]>[] }>>;
  readonly TransactItems?: readonly Readonly<Record<string, Body>>[];
}

const TRANSACTED: Readonly<Record<string, string>> = {
  ConditionCheck: "ConditionCheckItem",
  Delete: "DeleteItem",
  Put: "PutItem",
  Update: "UpdateItem",
};

/** The values of a statement stand in the order of its names. */
function seenInStatement({ Statement, Parameters }: Statement): Seen {
  const attributes = Array.from(Statement.matchAll(/['"](\w+)['"](?:: \?| = \?)/g), ([, name]) => `${name}`);
  const action = Statement.startsWith("INSERT") ? "dynamodb:PartiQLInsert" : "dynamodb:PartiQLUpdate";
  return { action, leadingKey: Parameters[attributes.indexOf("pk")]?.S, inTransaction: false, attributes };
}

function seenIn(command: string, input: Input, tableName: string): Seen[] {
  if (input.Statements) return input.Statements.map(seenInStatement);
  const keys = input.RequestItems?.[tableName]?.Keys ?? [];
  const looks = keys.map((Key) => ({ ...input, TableName: tableName, Key }));
  const inTransaction = input.TransactItems !== undefined;
  const single = looks.length > 0 ? looks : [input];
  const bodies =
    input.TransactItems?.flatMap((item) => Object.entries(item)) ??
    single.map((body) => [command, body] as const);
  return bodies
    .filter(([, body]) => body.TableName === tableName)
    .map(([name, body]) => ({
      action: `dynamodb:${inTransaction ? TRANSACTED[name] : name}`,
      leadingKey: (body.Key ?? body.Item)?.pk?.S,
      inTransaction,
      attributes: [...Object.keys(body.Key ?? body.Item ?? {}), ...attributesIn(body)],
    }));
}

/** Notes every request to the table, and refuses as IAM does what the rights do not allow. */
export function guard(client: DynamoDBClient, tableName: string, rights: readonly Right[]): Seen[] {
  const seen: Seen[] = [];
  aroundRequests(
    client,
    ({ command, input, send }) => {
      const requests = seenIn(command, input as Input, tableName);
      seen.push(...requests);
      const refused = requests.find((request) => !rights.some((right) => allows(right, request)));
      if (!refused) return send();
      const message = `not authorized to perform ${refused.action}`;
      const name = "AccessDeniedException";
      return Promise.reject(Object.assign(new Error(message), { name, $metadata: { httpStatusCode: 400 } }));
    },
    { at: "front", name: "guard" },
  );
  return seen;
}

function allows({ actions, conditions }: Right, request: Seen): boolean {
  return (
    actions.includes(request.action) &&
    Object.keys(conditions).every((operator) => holds(conditions, operator, request))
  );
}

function holds(
  conditions: Conditions,
  operator: string,
  { leadingKey, inTransaction, attributes }: Seen,
): boolean {
  const patterns = Object.values(conditions[operator] ?? {}).flat();
  switch (operator) {
    case "ForAnyValue:StringEquals":
      return inTransaction && patterns.includes("TransactWriteItems");
    case "ForAllValues:StringLike":
      return patterns.some((pattern) => leadingKey?.startsWith(pattern.slice(0, -1)));
    case "ForAllValues:StringNotEquals":
      return attributes.every((name) => !patterns.includes(name));
    case "Null":
      return leadingKey !== undefined && attributes.length > 0;
    default:
      throw new Error(`${operator} is not known here`);
  }
}

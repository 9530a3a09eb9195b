/** The caller's own writes: their shape, and what can be checked before DynamoDB sees them. */
import type { TransactWriteItem } from "@aws-sdk/client-dynamodb";
import { CommitInvalidError, OutboxTransactionTooLargeError } from "../core/errors.ts";
import { suggestion } from "../core/nearest.ts";
import type { PlacedMessages } from "./placement.ts";
import type { RecordTable } from "./record-table.ts";
import { type Item, MAX_ITEM_BYTES, sizeOf, toItem, unstorableIn } from "./values.ts";

interface Write {
  readonly TableName: string | undefined;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: object;
  /** `"ALL_OLD"` returns the item in `TransactionConditionError.item`. */
  readonly ReturnValuesOnConditionCheckFailure?: "ALL_OLD" | "NONE";
}

interface ConditionalWrite extends Write {
  readonly ConditionExpression?: string;
}

/**
 * One action of DynamoDB's TransactWriteItems, with plain JavaScript values. Members that are `undefined` are left out. Buffers,
 * typed arrays, ArrayBuffers and DataViews are stored as bytes. An object's prototype decides its type, so a member named
 * `constructor` is data. Blobs, class instances, strings with lone surrogates and members named `__proto__` are refused. A
 * commit holds at most 99 writes, 4 MB in all, and one write per item.
 */
export type DynamoDBWrite =
  | { readonly Put: ConditionalWrite & { readonly Item: object } }
  | { readonly Update: ConditionalWrite & { readonly Key: object; readonly UpdateExpression: string } }
  | { readonly Delete: ConditionalWrite & { readonly Key: object } }
  | { readonly ConditionCheck: Write & { readonly Key: object; readonly ConditionExpression: string } };

type AnyWrite = ConditionalWrite & { readonly Item: object; readonly Key: object };

const ACTIONS: readonly string[] = ["Put", "Update", "Delete", "ConditionCheck"];
const isAction = (name: string | undefined) => ACTIONS.includes(`${name}`);

/** The client silently drops any other field, including a misspelt condition. */
const FIELDS =
  /^(TableName|Item|Key|(Condition|Update)Expression|ExpressionAttribute(Names|Values)|ReturnValuesOnConditionCheckFailure)$/;

/** https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_AttributeValue.html */
const VALUE_TYPE = /^([SNBML]|[SNB]S|BOOL|NULL)$/;

/** A transaction allows 100 actions and 4 MB; the record needs one action of at most 9 KB. */
const MAX_WRITES = 99;
const MAX_BYTES = 4_185_000;

/**
 * The transaction actions for the caller's writes, and for the items that hold whatever doesn't fit into the record.
 * @throws CommitInvalidError (`COMMIT_INVALID`) for writes that DynamoDB can never accept, and OutboxTransactionTooLargeError
 * (`OUTBOX_TRANSACTION_TOO_LARGE`) if they are too large together with messages.
 */
export function marshallWrites(
  { TableName, keyOf }: RecordTable,
  writes: readonly DynamoDBWrite[],
  messages: Pick<PlacedMessages, "items" | "bytes">,
  recordKey = "",
): TransactWriteItem[] {
  if (writes.length + messages.items.length === 0) return [];
  let { bytes } = messages;
  const TooMuch = bytes > 0 ? OutboxTransactionTooLargeError : CommitInvalidError;
  if (writes.length + messages.items.length > MAX_WRITES || bytes > MAX_BYTES) {
    throw new TooMuch(`a commit can have at most ${MAX_WRITES} writes, and 4 MB including its messages`);
  }
  const targets = new Set([targetOf(TableName, keyOf(recordKey))]);
  const actions = writes.map((write, index): TransactWriteItem => {
    const refuse = (why: string): never => {
      throw new CommitInvalidError(`writes[${index}] ${why}`);
    };
    const { action, field, body, item, values, size } = marshallWrite(write, refuse);
    bytes += size;
    if (bytes > MAX_BYTES) throw new TooMuch(`writes[${index}] makes the commit larger than 4 MB in total`);
    if (size > MAX_ITEM_BYTES) refuse("is too large: an item can have at most 400 KB");
    // We don't know which attributes of an item are its key, so only DynamoDB can detect two puts of one item.
    if (field === "Key" && targets.size === targets.add(targetOf(body.TableName as string, item)).size)
      refuse("writes the same item as another write, or the record itself");
    return { [action]: { ...body, [field]: item, ExpressionAttributeValues: values } } as TransactWriteItem;
  });
  return [...actions, ...messages.items.map((Item) => ({ Put: { TableName, Item } }))];
}

/**
 * Checks and marshals a single write.
 * @param refuse throws
 */
function marshallWrite(write: DynamoDBWrite, refuse: (why: string) => never) {
  const { action, body } = readAction(write, refuse);
  const field = action === "Put" ? ("Item" as const) : ("Key" as const);
  const content = body?.[field];
  let marshalled: Item;
  try {
    marshalled = toItem({ content, values: body?.ExpressionAttributeValues });
  } catch {
    return refuse(`has a value that DynamoDB can't store: ${unstorableIn([action], body)}`);
  }
  const item = marshalled.content?.M;
  if (!body?.TableName || !item) return refuse(`must have TableName and ${field} in its ${action}`);
  if (isMarshalled(item)) {
    refuse('has marshalled values, such as { S: "a" }: pass plain values, such as "a"');
  }
  const unknown = Object.keys(body).find((name) => !FIELDS.test(name));
  if (unknown)
    refuse(`has an unknown field \`${unknown}\` in its ${action}: check its spelling, or leave it out`);
  return { action, field, body, item, values: marshalled.values?.M, size: sizeOf(content) };
}

/**
 * The action of a write. Libraries that build writes may add or omit fields.
 * @param refuse throws
 */
function readAction(
  write: DynamoDBWrite,
  refuse: (why: string) => never,
): { readonly action: string; readonly body: Partial<AnyWrite> | undefined } {
  const given = Object(write) as Readonly<Record<string, unknown>>;
  const names = Object.keys(given);
  const action = names.find((name) => isAction(name));
  const other = names.find((name) => name !== action);
  if (action !== undefined && other === undefined) {
    return { action, body: given[action] as Partial<AnyWrite> | undefined };
  }
  if (action !== undefined) {
    const advice = isAction(other) ? "make it a separate write" : `pass only { ${action} }`;
    return refuse(`has an unknown field \`${other}\` next to its ${action}: ${advice}`);
  }
  if (typeof given.params === "function")
    return refuse(
      "is an unfinished command of a query builder: call its `params()`, and pass { Put: params } or similar",
    );
  if ("TableName" in given) {
    const usual = "Item" in given ? "Put" : "UpdateExpression" in given ? "Update" : "Delete";
    return refuse(`has its TableName at the top level: wrap it in the action, as in { ${usual}: params }`);
  }
  return refuse(
    `must have one action, with TableName and Item or Key ${suggestion(`${other}`, ACTIONS, "valid actions")}`,
  );
}

/** No such item can have a valid DynamoDB key: each of its attributes would be a map. */
function isMarshalled(item: Item): boolean {
  const values = Object.values(item).map(({ M = {} }) => Object.keys(M));
  return values.length > 0 && values.every(([type = "", other]) => !other && VALUE_TYPE.test(type));
}

function targetOf(tableName: string, key: Item): string {
  return JSON.stringify([tableName, ...Object.entries(key).sort()]);
}

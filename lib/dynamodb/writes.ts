/** The caller's own writes: what they look like, and what can be known before DynamoDB sees them. */
import type { TransactWriteItem } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { CommitInvalidError } from "../core/errors.ts";
import type { Item, RecordTable } from "./record-table.ts";
import { MAX_ITEM_BYTES, sizeOf } from "./sizes.ts";

interface Write {
  readonly TableName: string | undefined;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: object;
  /** `"ALL_OLD"` puts the item into `TransactionConditionError.item`. */
  readonly ReturnValuesOnConditionCheckFailure?: "ALL_OLD" | "NONE";
}

interface ConditionalWrite extends Write {
  readonly ConditionExpression?: string;
}

/**
 * One action of DynamoDB's TransactWriteItems, with plain JavaScript values. Properties that are `undefined`
 * are left out. At most 99 of them in a commit, 4 MB in all, and one per item.
 */
export type DynamoDBWrite =
  | { readonly Put: ConditionalWrite & { readonly Item: object } }
  | { readonly Update: ConditionalWrite & { readonly Key: object; readonly UpdateExpression: string } }
  | { readonly Delete: ConditionalWrite & { readonly Key: object } }
  | { readonly ConditionCheck: Write & { readonly Key: object; readonly ConditionExpression: string } };

type AnyWrite = ConditionalWrite & { readonly Item: object; readonly Key: object };

const ACTIONS = /^(Put|Update|Delete|ConditionCheck)$/;

/** The client drops any other field in silence, a misspelt condition too. */
const FIELDS =
  /^(TableName|Item|Key|(Condition|Update)Expression|ExpressionAttribute(Names|Values)|ReturnValuesOnConditionCheckFailure)$/;

/** A transaction takes 100 actions and 4 MB; one action of at most 4 KB is the record's. */
const MAX_WRITES = 99;
const MAX_BYTES = 4_190_000;

/** @throws CommitInvalidError (`COMMIT_INVALID`) for writes that DynamoDB can never accept. */
export function marshallWrites(
  table: RecordTable,
  writes: readonly DynamoDBWrite[],
  recordKey = "",
): TransactWriteItem[] {
  if (writes.length > MAX_WRITES) throw new CommitInvalidError(`a commit takes at most ${MAX_WRITES} writes`);
  const ownKey = Object.entries(table.key(recordKey));
  const targets = new Set<string>();
  let bytes = 0;
  return writes.map((write, index) => {
    const refuse = (why: string, cause?: unknown): never => {
      throw new CommitInvalidError(`writes[${index}] ${why}`, { cause });
    };
    const [[action, body] = [], another] = Object.entries<Partial<AnyWrite>>(write ?? {});
    const field = action === "Put" ? "Item" : "Key";
    const content = body?.[field];
    const marshalled = marshallOr(refuse, { content, values: body?.ExpressionAttributeValues });
    const item = marshalled.content?.M;
    if (another || !ACTIONS.test(`${action}`) || !body?.TableName || !item)
      return refuse("must be one of Put, Update, Delete, ConditionCheck, with TableName and Item or Key");
    const unknown = Object.keys(body).find((name) => !FIELDS.test(name));
    if (unknown) return refuse(`has a field \`${unknown}\` that DynamoDB does not know`);
    const size = sizeOf(content);
    bytes += size;
    if (size > MAX_ITEM_BYTES || bytes > MAX_BYTES) refuse("is too large, or makes the commit too large");
    if (body.TableName === table.TableName && ownKey.every(([name, key]) => item[name]?.S === key.S))
      refuse("is for the idempotency record itself");
    const target = field === "Key" && JSON.stringify([body.TableName, ...Object.entries(item).sort()]);
    if (target && targets.size === targets.add(target).size) refuse("is for the same item as another one");
    return {
      [`${action}`]: { ...body, [field]: item, ExpressionAttributeValues: marshalled.values?.M },
    } as TransactWriteItem;
  });
}

function marshallOr(refuse: (why: string, cause: unknown) => never, values: object): Item {
  try {
    return marshall(values, { removeUndefinedValues: true });
  } catch (cause) {
    return refuse("holds a value that DynamoDB cannot store", cause);
  }
}

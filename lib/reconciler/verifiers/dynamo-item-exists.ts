/** Asks a table of DynamoDB whether the abandoned attempt has put its item there. */
import { aFunction, checkOptions, methods, text } from "../../core/option-checks.ts";
import type { AbandonedAttempt, AbandonedRecord, Verify } from "../../core/verify.ts";
import { absent, remembers } from "./absence.ts";

/** The `DynamoDBDocument` of `@aws-sdk/lib-dynamodb`, of any version 3. */
export interface DynamoDBDocumentLike {
  get(
    input: { TableName: string; Key: Record<string, unknown>; ConsistentRead: true },
    options: { abortSignal: AbortSignal },
  ): Promise<{ readonly Item?: Record<string, unknown> | undefined }>;
}

export interface DynamoItemExistsOptions<
  Input = unknown,
  Previous extends AbandonedRecord = AbandonedAttempt<Input>,
> {
  /** The client for the table's account and Region. */
  readonly client: DynamoDBDocumentLike;
  /** `undefined`, as from an environment variable that is not set, is refused. */
  readonly tableName: string | undefined;
  /** The key of the item that the handler puts. */
  readonly key: (previous: Previous) => Record<string, unknown>;
  /** The answer of every caller, made of the item. */
  readonly result: (item: Record<string, unknown>, previous: Previous) => unknown;
  /**
   * For how long after the key was first claimed its item is sure to be there, in seconds, if something deletes such items: a TTL, or
   * your own code. Later its absence says nothing, and a person decides.
   * @default - nothing deletes the item
   */
  readonly remembersSeconds?: number;
}

/**
 * A `whenAbandoned` for handlers whose effect is one item, written past `commit`. By a consistent read: the item is there, and
 * the effect happened; or it is not, and the handler runs. The role needs `dynamodb:GetItem`.
 * @throws InvalidOptionError (`INVALID_OPTION`) at once.
 */
export function dynamoItemExists<Input = unknown, Previous extends AbandonedRecord = AbandonedAttempt<Input>>(
  options: DynamoItemExistsOptions<Input, Previous>,
): Verify<Input, Previous> {
  const functions = { key: aFunction, result: aFunction };
  checkOptions(
    options,
    { client: methods("get"), tableName: text(255), ...functions, remembersSeconds: remembers },
    ["client", "tableName", "key", "result"],
  );
  const { client, tableName, key, result, remembersSeconds } = options;
  const asked = `GetItem on ${tableName}`;
  return async function askForItem(previous: Previous) {
    const input = { TableName: tableName as string, Key: key(previous), ConsistentRead: true } as const;
    const { Item } = await client.get(input, { abortSignal: previous.signal });
    if (!Item) return absent(previous, { remembersSeconds }, { asked, answered: "no item" });
    return { outcome: "happened", result: result(Item, previous), evidence: { asked, answered: "the item" } };
  };
}

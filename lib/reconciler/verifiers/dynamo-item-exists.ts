/** Checks in a DynamoDB table whether the abandoned attempt has put its item there. */
import { aFunction, checkOptions, methods, text } from "../../core/option-checks.ts";
import type { AbandonedAttempt, AbandonedRecord, Verify } from "../../core/verify.ts";
import { absent, remembers } from "./absence.ts";

/** The `DynamoDBDocument` client of `@aws-sdk/lib-dynamodb`, any version 3. */
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
  /** `undefined`, for example from an unset environment variable, is refused. */
  readonly tableName: string | undefined;
  /** The key of the item that the handler puts. */
  readonly key: (previous: Previous) => Record<string, unknown>;
  /** The response that every caller gets, made from the item. */
  readonly result: (item: Record<string, unknown>, previous: Previous) => unknown;
  /**
   * How long after the key was first claimed its item is sure to be there, in seconds, if something deletes such items: a TTL,
   * or your own code. After that, absence proves nothing, and an operator decides.
   * @default - nothing deletes the item
   */
  readonly remembersSeconds?: number;
}

/**
 * A `whenAbandoned` for handlers whose effect is one item, written outside `commit`. It makes a consistent read: if the item is
 * there, the effect happened; if not, the handler runs. The role needs `dynamodb:GetItem`.
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately.
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
    return {
      outcome: "happened",
      result: await result(Item, previous),
      evidence: { asked, answered: "the item" },
    };
  };
}

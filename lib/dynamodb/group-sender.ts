/** Shared by all kinds of groups: sending one member by itself, and classifying a failed group. */
import type { Connection, DynamoDBInputs, OperationName } from "./connection.ts";
import type { Member } from "./gatherer.ts";
import type { RecordTable } from "./record-table.ts";
import type { ClientError } from "./send.ts";
import type { Item } from "./values.ts";
import { withoutStack } from "./wire/without-stack.ts";

/** Kinds of groups that DynamoDB may refuse, because the role lacks permission or the engine doesn't support them. */
export type GroupKind = "looks" | "statements";

export interface GroupSender {
  readonly connection: Connection;
  readonly table: RecordTable;
  /** Whether records may be read together. */
  readonly canLook: boolean;
  /** From now on no group of this kind is sent. */
  readonly refuse: (kind: GroupKind, error: unknown) => void;
}

/**
 * Sends a member by itself.
 * @param inDoubt whether an earlier group with this member may have been applied, or may still be. A refusal then reports that
 * the request was repeated, as it does when the client repeats a request.
 */
export async function sendAlone<Name extends OperationName>(
  { connection }: GroupSender,
  operation: Name,
  { input, resolve, reject }: Member<DynamoDBInputs[Name]>,
  inDoubt = false,
): Promise<void> {
  try {
    resolve((await connection.send(operation, input)) as never);
  } catch (error) {
    if (inDoubt) Reflect.set(Object(error), "$metadata", repeated(error as ClientError));
    reject(error);
  }
}

export function repeated({ $metadata }: ClientError): ClientError["$metadata"] {
  return { ...$metadata, attempts: ($metadata?.attempts ?? 1) + 1 };
}

/** Whether the request may have been carried out. A request that DynamoDB refused at the first try was not. */
export function isDoubtful(error: unknown): boolean {
  const { httpStatusCode = 0, attempts = 1 } = (Object(error) as ClientError).$metadata ?? {};
  const isRefused = httpStatusCode >= 400 && httpStatusCode < 500 && ![408, 425].includes(httpStatusCode);
  return attempts > 1 || !isRefused;
}

/** Whether every group would be refused like this, because of a missing permission or operation. */
export function isForGood(error: unknown): boolean {
  return /^(AccessDenied|UnknownOperation|Validation)/.test(`${(Object(error) as ClientError).name}`);
}

/** The SDK's error for an item whose condition was not met. */
export function conditionRefused(Item: Item | undefined): Error {
  return Object.assign(
    withoutStack(() => new Error("The conditional request failed")),
    {
      name: "ConditionalCheckFailedException",
      $metadata: { httpStatusCode: 400, attempts: 1 },
      ...(Item && { Item }),
    },
  );
}

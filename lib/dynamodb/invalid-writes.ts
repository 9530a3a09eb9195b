/** Distinguishes a refusal of the caller's own writes, which no retry fixes, from a failure of the store. No I/O. */
import type { TransactWriteItem } from "@aws-sdk/client-dynamodb";
import { isStoreFailure } from "../core/error-code.ts";
import { CommitInvalidError } from "../core/errors.ts";
import type { ClientError } from "./send.ts";
import { bodyOf, serviceText, tablesOf } from "./service-text.ts";

/**
 * An error about the caller's writes if they are to blame; otherwise the original error.
 * @param writes the caller's writes that follow the record's change, as they were sent
 * @param ownTable the record's table; `undefined` if that may be the missing one
 */
export function blameWrites(
  error: unknown,
  writes: readonly TransactWriteItem[],
  ownTable: string | undefined,
): unknown {
  if (!isStoreFailure(error) || error.failure !== "refused") return error;
  const { cause } = error;
  const suspects = suspectsOf(cause as ClientError, writes, ownTable);
  const [first] = suspects;
  if (first === undefined) return error;
  const { name, message, CancellationReasons } = cause as ClientError;
  const { Code = name, Message = message } = CancellationReasons?.[first + 1] ?? {};
  const index = suspects.length === 1 ? first : undefined;
  const which =
    index === undefined
      ? `one of ${writes.length} writes`
      : `writes[${index}], ${Object.keys(writes[index] as object)[0]}`;
  const tables = tablesOf(suspects.map((suspect) => writes[suspect] as TransactWriteItem));
  return new CommitInvalidError(
    `DynamoDB refuses ${which} on ${tables} (${serviceText(Code, Message, writes)}): nothing was written; fix the write`,
    { index, cause },
  );
}

/** The writes that may be to blame, by their positions. */
function suspectsOf(
  { name, message, CancellationReasons: reasons }: ClientError,
  writes: readonly TransactWriteItem[],
  ownTable: string | undefined,
): readonly number[] {
  const all = [...writes.keys()];
  if (reasons) {
    // The writes are the only cause only if DynamoDB checked the record's condition and it held.
    if ((reasons[0]?.Code ?? "None") !== "None") return [];
    return all.filter((index) => /^(Validation|ItemColl)/.test(`${reasons[index + 1]?.Code}`)).slice(0, 1);
  }
  if (name.startsWith("ResourceNotFound")) {
    return ownTable ? all.filter((index) => bodyOf(writes[index]).TableName !== ownTable) : [];
  }
  if (!name.startsWith("Validation")) return [];
  // This message names the kind of expression, and the reserved word in it.
  const [, kind = ""] = /Invalid (\w+Expression)/.exec(message) ?? [];
  const word = new RegExp(`\\b${/keyword: (\w+)/.exec(message)?.[1] ?? ""}\\b`, "i");
  const meant = all.filter((index) => word.test(bodyOf(writes[index])[kind as "ConditionExpression"] ?? ""));
  return meant.length > 0 ? meant : all;
}

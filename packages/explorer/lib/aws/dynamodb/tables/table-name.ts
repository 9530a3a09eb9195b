/**
 * The allowed names of tables and indexes.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html#HowItWorks.NamingRules
 */
import { invalid } from "../dynamodb-error.ts";

const NAME = /^[a-zA-Z0-9_.-]{3,255}$/;
const PERHAPS_A_NAME = /^[a-zA-Z0-9_.-]{1,255}$/;

export function checkTableName(name: string): void {
  if (NAME.test(name)) return;
  throw invalid(
    "Invalid table/index name: it is 3 to 255 characters long, of a-z, A-Z, 0-9, '_', '-', and '.'",
  );
}

/** Requests may name a table by its ARN. https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_GetItem.html */
export function tableNameIn(nameOrArn: unknown): string {
  const text = String(nameOrArn);
  const name = text.startsWith("arn:") ? text.slice(text.lastIndexOf("/") + 1) : text;
  if (PERHAPS_A_NAME.test(name)) return name;
  throw invalid(
    `1 validation error detected: Value '${name}' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+`,
  );
}

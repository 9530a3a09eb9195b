/** The key that a command is about: as its caller names it, or as the commands print its record. */
import { identify, namesOf, PUBLIC_SCOPE } from "onceonly/kit";
import {
  type CommandCall,
  type OptionsConfig,
  type OptionValues,
  onlyArgument,
  required,
  UsageError,
} from "./command.ts";

/** Names one key, as its handler does. */
export const KEY_OPTIONS = {
  operation: { type: "string", short: "o" },
  scope: { type: "string", short: "s" },
} as const satisfies OptionsConfig;

export const KEY_USAGE = `
  --operation, -o <name>      the \`operation\` of the handler (required, unless you pass a record key)
  --scope, -s <owner>         the key's owner (default: none, for operations without a scope)

The key is the caller's idempotency key, or a record key as \`list\`, \`find\` and the console print it (charge#acme#mCjn…).`;

/** `<operation>#<scope>#<SHA-256>`. No part contains the separator. */
const RECORD_KEY = /^[^#\s]+#[^#\s]*#[\w-]{43}$/;

export const isRecordKey = (text: string): boolean => RECORD_KEY.test(text);

/** @throws UsageError, IdempotencyKeyInvalidError, ScopeMissingError */
export function recordKeyIn({ values, positionals }: Pick<CommandCall, "values" | "positionals">): string {
  const key = onlyArgument(positionals, "idempotency key");
  if (values.operation !== undefined) return recordKeyOf(values, key);
  if (!isRecordKey(key))
    throw new UsageError(
      "--operation is required with an idempotency key; without it, pass a whole record key, as `list unknown` prints it",
    );
  if (values.scope !== undefined) throw new UsageError("a record key contains its scope: leave out --scope");
  return key;
}

/** @throws UsageError, IdempotencyKeyInvalidError, ScopeMissingError */
export function recordKeyOf(values: OptionValues, key: string): string {
  return identify(required(values, "operation"), `${values.scope ?? PUBLIC_SCOPE}`, key).recordKey;
}

export const operationOf = (recordKey: string): string => namesOf(recordKey).operation;

/** Why there is no record of a key. Without --scope, another scope is the likely reason. */
export function noRecord({ values, positionals }: Pick<CommandCall, "values" | "positionals">): string {
  if (values.operation === undefined)
    return "no record: this table has none under this record key, or its retention has ended";
  if (isRecordKey(`${positionals[0]}`))
    return "no record: the argument looks like a record key; to use it as one, leave out --operation and --scope";
  return values.scope === undefined
    ? "no record: nothing ran under this operation and key without a scope, or its retention has ended. If the operation has a `scope`, pass the key's owner with --scope"
    : "no record: nothing ran under this operation, scope and key, or its retention has ended";
}

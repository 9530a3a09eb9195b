/**
 * Which parts of an error's message are safe to repeat. DynamoDB and clients quote values of items, expressions and signed
 * headers.
 */
import type { Put, TransactWriteItem, Update } from "@aws-sdk/client-dynamodb";

/** Longer messages bury the advice. */
const MAX_LENGTH = 400;

/** Shorter values are too likely to be an ordinary word of the message. */
const MIN_VALUE_LENGTH = 4;

/** An error's name and, if there is one, its message without the values in `actions`. */
export function serviceText(name: string, message: string, actions: readonly TransactWriteItem[]): string {
  // The rest may be a request with its token, or a command with its arguments.
  const [line = ""] = message.split(/Credential|Signature/.test(name) ? /[.:=\n]/ : "\n");
  let text = line.replace(/(?<!\w)["'](.*["']|.*)/, "…").replace(/(numeric value).*/, "$1 …");
  text = without(text, /\[/, "]", "[…]");
  // Placeholders are code.
  text = without(text, /\{(?![:#][\w, :#]*\})/, "}", "{…}");
  for (const value of actions.flatMap(valuesOf)) {
    if (value.length >= MIN_VALUE_LENGTH) text = text.replaceAll(value, "…");
  }
  text = text.trim().replace(/\.$/, "").slice(0, MAX_LENGTH).toWellFormed();
  return text === "" || text === name ? name : `${name}: ${text}`;
}

/** A pattern with `.*` would search for the end from every beginning. */
function without(text: string, begin: RegExp, end: string, mark: string): string {
  const upToEnd = text.slice(0, text.lastIndexOf(end) + 1);
  const from = upToEnd.search(begin);
  return from < 0 ? text : text.slice(0, from) + mark + text.slice(upToEnd.length);
}

/** The tables that actions are about, each once. */
export function tablesOf(actions: readonly TransactWriteItem[]): string {
  return [...new Set(actions.map((action) => bodyOf(action).TableName))].join(", ");
}

export function bodyOf(action: TransactWriteItem = {}): Partial<Put & Update> {
  return Object(Object.values(action)[0]);
}

function valuesOf(action: TransactWriteItem): readonly string[] {
  const { Item, Key, ExpressionAttributeValues } = bodyOf(action);
  return textsIn([Item, Key, ExpressionAttributeValues]);
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) {
    return typeof value === "string" ? [value] : [];
  }
  return Object.values(value).flatMap(textsIn);
}

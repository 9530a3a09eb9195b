/** ExpressionAttributeNames and ExpressionAttributeValues of a request: each is defined, and each is used. */
import { DynamoDBError, invalid } from "../dynamodb-error.ts";
import type { AttributeValue } from "../values/attribute-value.ts";
import { readValue } from "../values/read-value.ts";
import { valueSize } from "../values/value-size.ts";

export interface PlaceholderInput {
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>> | undefined;
  readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>> | undefined;
}

const KEYS = { ExpressionAttributeNames: /^#[A-Za-z0-9_]+$/, ExpressionAttributeValues: /^:[A-Za-z0-9_]+$/ };

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-expression-parameters */
const MAX_NAME_BYTES = 255;
const MAX_TOTAL_BYTES = 2 * 1024 * 1024;

export class Placeholders {
  readonly #names = new Map<string, string>();
  readonly #values = new Map<string, AttributeValue>();
  readonly #unusedNames: Set<string>;
  readonly #unusedValues: Set<string>;

  constructor(input: PlaceholderInput) {
    for (const [key, name] of entriesOf(input, "ExpressionAttributeNames")) {
      this.#names.set(key, checkedName(key, name));
    }
    for (const [key, value] of entriesOf(input, "ExpressionAttributeValues")) {
      this.#values.set(key, checkedValue(key, value));
    }
    this.#unusedNames = new Set(this.#names.keys());
    this.#unusedValues = new Set(this.#values.keys());
    this.#checkSize();
  }

  name(key: string): string | undefined {
    this.#unusedNames.delete(key);
    return this.#names.get(key);
  }

  value(key: string): AttributeValue | undefined {
    this.#unusedValues.delete(key);
    return this.#values.get(key);
  }

  /** Call this when all expressions of the request are read. */
  checkUse(expressions: readonly (string | undefined)[]): void {
    const hasExpressions = expressions.some((expression) => expression !== undefined);
    checkUsed("ExpressionAttributeNames", this.#unusedNames, hasExpressions);
    checkUsed("ExpressionAttributeValues", this.#unusedValues, hasExpressions);
  }

  #checkSize(): void {
    let bytes = 0;
    for (const [key, name] of this.#names) bytes += key.length + Buffer.byteLength(name);
    for (const [key, value] of this.#values) bytes += key.length + valueSize(value);
    if (bytes > MAX_TOTAL_BYTES) {
      throw invalid("the size of all substitution variables in an expression has exceeded 2 MB");
    }
  }
}

function entriesOf(input: PlaceholderInput, parameter: keyof PlaceholderInput): [string, unknown][] {
  const map = input[parameter];
  if (map === undefined || map === null) return [];
  const entries = Object.entries(map);
  if (entries.length === 0) throw invalid(`${parameter} must not be empty`);
  for (const [key] of entries) {
    if (!KEYS[parameter].test(key)) {
      throw invalid(`${parameter} contains invalid key: Syntax error; key: "${key}"`);
    }
  }
  return entries;
}

function checkedName(key: string, name: unknown): string {
  if (typeof name === "string" && name !== "" && Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  throw invalid(`ExpressionAttributeNames contains invalid value for key ${key}`);
}

function checkedValue(key: string, value: unknown): AttributeValue {
  try {
    return readValue(value);
  } catch (error) {
    if (!(error instanceof DynamoDBError) || error.name !== "ValidationException") throw error;
    throw invalid(`ExpressionAttributeValues contains invalid value: ${error.message} for key ${key}`);
  }
}

function checkUsed(parameter: string, unused: ReadonlySet<string>, hasExpressions: boolean): void {
  if (unused.size === 0) return;
  if (!hasExpressions) throw invalid(`${parameter} can only be specified when using expressions`);
  throw invalid(`Value provided in ${parameter} unused in expressions: keys: {${[...unused].join(", ")}}`);
}

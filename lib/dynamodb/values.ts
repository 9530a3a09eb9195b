/** Plain JavaScript values as DynamoDB writes them, and back. */
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";

export type Item = Record<string, AttributeValue>;

/** What is `undefined` is left out. */
export function toItem(values: object): Item {
  return marshall(values, { removeUndefinedValues: true });
}

export function fromItem(item: Item): Record<string, unknown> {
  return unmarshall(item, { wrapNumbers: readNumber });
}

/** Reads large integers as BigInt: the SDK alone throws for some numbers that JavaScript cannot hold exactly. */
function readNumber(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) || !/^-?\d+$/.test(text) ? number : BigInt(text);
}

/** Objects that hold themselves have no end. */
const MAX_DEPTH = 12;

/** Which value in `path` DynamoDB cannot store, by its names and type: the SDK's own error repeats the value. */
export function unstorableIn(path: readonly string[], value: unknown): string {
  for (const [name, inner] of Object.entries(Object(value))) {
    try {
      toItem({ inner });
    } catch {
      if (path.length < MAX_DEPTH) return unstorableIn([...path, name], inner);
    }
  }
  return `${path.join(".")} is of type ${typeof value}`;
}

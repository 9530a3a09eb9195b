/** Order and equality of values. */
import { type AttributeValue, attributeOf, type Item, typeOf } from "./attribute-value.ts";
import { compareDecimals, parseDecimal } from "./decimal.ts";

/** Negative, zero or positive; `undefined` for values without an order. */
export function compareScalars(first: AttributeValue, second: AttributeValue): number | undefined {
  if ("S" in first && "S" in second) return compareTexts(first.S, second.S);
  if ("N" in first && "N" in second) return compareDecimals(parseDecimal(first.N), parseDecimal(second.N));
  if ("B" in first && "B" in second) return Buffer.compare(first.B, second.B);
  return undefined;
}

/**
 * Values of different types are never equal. Sets and numbers have one form here, so their texts can be
 * compared.
 */
export function areEqual(first: AttributeValue | undefined, second: AttributeValue | undefined): boolean {
  if (first === undefined || second === undefined) return first === second;
  if (typeOf(first) !== typeOf(second)) return false;
  if ("M" in first && "M" in second) return areEqualItems(first.M, second.M);
  if ("L" in first && "L" in second) {
    const { L } = second;
    return first.L.length === L.length && first.L.every((value, index) => areEqual(value, L[index]));
  }
  return identity(first) === identity(second);
}

export function areEqualItems(first: Item | undefined, second: Item | undefined): boolean {
  if (first === undefined || second === undefined) return first === second;
  const entries = Object.entries(first);
  return (
    entries.length === Object.keys(second).length &&
    entries.every(([name, value]) => areEqual(value, attributeOf(second, name)))
  );
}

/** A text that is the same for equal scalars and sets, and differs for others. */
export function identity(value: AttributeValue): string {
  if ("S" in value) return `S${value.S}`;
  if ("N" in value) return `N${value.N}`;
  if ("B" in value) return `B${hex(value.B)}`;
  if ("SS" in value) return `SS${JSON.stringify(value.SS)}`;
  if ("NS" in value) return `NS${value.NS}`;
  if ("BS" in value) return `BS${value.BS.map(hex)}`;
  return JSON.stringify(value);
}

/** Compares the bytes of UTF-8: JavaScript's order of strings differs when there are surrogates. */
function compareTexts(first: string, second: string): number {
  const length = Math.min(first.length, second.length);
  for (let index = 0; index < length; index++) {
    const difference = rank(first.charCodeAt(index)) - rank(second.charCodeAt(index));
    if (difference !== 0) return difference;
  }
  return first.length - second.length;
}

/** Sorts surrogates, which encode characters beyond U+FFFF, after all other characters. */
function rank(codeUnit: number): number {
  if (codeUnit < 0xd800) return codeUnit;
  return codeUnit >= 0xe000 ? codeUnit - 0x800 : codeUnit + 0x2000;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

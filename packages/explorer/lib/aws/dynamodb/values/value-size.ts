/**
 * The sizes of items in bytes, as limits and capacity count them.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
import type { AttributeValue, Item } from "./attribute-value.ts";

export function itemSize(item: Item | undefined): number {
  if (item === undefined) return 0;
  let bytes = 0;
  for (const [name, value] of Object.entries(item)) bytes += Buffer.byteLength(name) + valueSize(value);
  return bytes;
}

export function valueSize(value: AttributeValue): number {
  if ("S" in value) return Buffer.byteLength(value.S);
  if ("N" in value) return numberSize(value.N);
  if ("B" in value) return value.B.byteLength;
  if ("SS" in value) return sum(value.SS, (each) => Buffer.byteLength(each));
  if ("NS" in value) return sum(value.NS, numberSize);
  if ("BS" in value) return sum(value.BS, ({ byteLength }) => byteLength);
  if ("L" in value) return 3 + value.L.length + sum(value.L, valueSize);
  if ("M" in value) return 3 + Object.keys(value.M).length + itemSize(value.M);
  return 1;
}

/** One byte, one for every two digits counted from the decimal point, and one for a minus. */
function numberSize(number: string): number {
  const [, minus = "", whole = "", fraction = ""] = /^(-?)0?(\d*)(?:\.(\d*))?$/.exec(number) ?? [];
  const pairs = (whole.length % 2 === 1 ? `0${whole}` : whole) + fraction + "0".repeat(fraction.length % 2);
  const significant = pairs.replace(/^(00)+/, "").replace(/(00)+$/, "");
  return 1 + significant.length / 2 + minus.length;
}

function sum<T>(values: readonly T[], sizeOf: (value: T) => number): number {
  return values.reduce((bytes, value) => bytes + sizeOf(value), 0);
}

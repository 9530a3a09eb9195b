/** Items, bodies and responses as plain JSON values that can be compared and shown. Pure. */
import type { AttributeValue } from "../aws/dynamodb/values/attribute-value.ts";

export type Plain = string | number | boolean | null | readonly Plain[] | { readonly [name: string]: Plain };

/**
 * A set becomes a sorted list, binary becomes base64, and a number that JavaScript cannot hold stays a text.
 */
function plainAttribute(value: AttributeValue): Plain {
  if ("S" in value) return value.S;
  if ("N" in value) return String(Number(value.N)) === value.N ? Number(value.N) : value.N;
  if ("BOOL" in value) return value.BOOL;
  if ("M" in value) return plainItem(value.M);
  if ("L" in value) return value.L.map(plainAttribute);
  if ("SS" in value) return [...value.SS].sort();
  if ("NS" in value) return [...value.NS].sort();
  if ("BS" in value) return value.BS.map(base64).sort();
  return "B" in value ? base64(value.B) : null;
}

export function plainItem(item: Readonly<Record<string, AttributeValue>>): {
  readonly [name: string]: Plain;
} {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, plainAttribute(value)]));
}

/** Parses text that is a JSON object or list; returns other text unchanged. */
export function plainText(text: string): Plain {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text) as Plain;
  } catch {
    return text;
  }
}

/** The value as JSON; a value that JSON can't hold becomes the name of its type. */
export function plainOf(value: unknown): Plain {
  try {
    const text = JSON.stringify(value);
    return text === undefined ? null : (JSON.parse(text) as Plain);
  } catch {
    return `(${typeof value})`;
  }
}

const DETAIL_CHARACTERS = 500;

/** The beginning of a value, for a message. */
export function plainDetail(value: Plain): string {
  const text = JSON.stringify(value);
  return text.length > DETAIL_CHARACTERS ? `${text.slice(0, DETAIL_CHARACTERS)}…` : text;
}

/** The same string for equal values, in any order of their fields. */
export function canonicalText(value: Plain): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([left], [right]) => (left < right ? -1 : 1)))
      : part,
  );
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

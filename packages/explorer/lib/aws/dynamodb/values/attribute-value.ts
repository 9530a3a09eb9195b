/**
 * Values in DynamoDB's JSON. Inside the model numbers have their plain form, and no value is changed in
 * place.
 */

export type AttributeValue =
  | { readonly S: string }
  | { readonly N: string }
  | { readonly B: Uint8Array }
  | { readonly SS: readonly string[] }
  | { readonly NS: readonly string[] }
  | { readonly BS: readonly Uint8Array[] }
  | { readonly M: Item }
  | { readonly L: readonly AttributeValue[] }
  | { readonly BOOL: boolean }
  | { readonly NULL: boolean };

export interface Item {
  readonly [name: string]: AttributeValue;
}

export const ATTRIBUTE_TYPES = ["S", "N", "B", "SS", "NS", "BS", "M", "L", "BOOL", "NULL"] as const;

export type AttributeType = (typeof ATTRIBUTE_TYPES)[number];
export type ScalarType = "S" | "N" | "B";

export function typeOf(value: AttributeValue): AttributeType {
  for (const type in value) return type as AttributeType;
  throw new Error("a value without a type came past the checks");
}

/** Names such as `constructor` are allowed attribute names. */
export function attributeOf(item: Item | undefined, name: string): AttributeValue | undefined {
  return item !== undefined && Object.hasOwn(item, name) ? item[name] : undefined;
}

export function withAttribute(item: Item, name: string, value: AttributeValue): Item {
  return { ...item, [name]: value };
}

export function withoutAttribute(item: Item, name: string): Item {
  return Object.fromEntries(Object.entries(item).filter(([each]) => each !== name));
}

/** The given attributes, as far as the item has them. */
export function pickAttributes(item: Item, names: readonly string[]): Item {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = attributeOf(item, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

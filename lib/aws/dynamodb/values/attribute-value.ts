/** Values as DynamoDB's JSON has them. Inside the model numbers are in their plain form, and nothing is ever changed in place. */

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

/** Names like `constructor` are attribute names as good as any. */
export function attributeOf(item: Item | undefined, name: string): AttributeValue | undefined {
  return item !== undefined && Object.hasOwn(item, name) ? item[name] : undefined;
}

export function withAttribute(item: Item, name: string, value: AttributeValue): Item {
  return { ...item, [name]: value };
}

export function withoutAttribute(item: Item, name: string): Item {
  return Object.fromEntries(Object.entries(item).filter(([each]) => each !== name));
}

/** Those of the attributes that are there. */
export function pickAttributes(item: Item, names: readonly string[]): Item {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = attributeOf(item, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Sets: their order, and the effects of ADD and DELETE. */
import type { AttributeValue } from "./attribute-value.ts";
import { compareScalars, identity } from "./compare-values.ts";

/** DynamoDB returns the members of a set in order, however they were written. */
export function inOrder(set: AttributeValue): AttributeValue {
  return withMembers(set, membersOf(set) ?? []);
}

/** `undefined` unless both are sets of one type. */
export function unionOf(first: AttributeValue, second: AttributeValue): AttributeValue | undefined {
  if (!areOfOneType(first, second)) return undefined;
  const members = membersOf(first) ?? [];
  const known = new Set(members.map(identity));
  const others = (membersOf(second) ?? []).filter((member) => !known.has(identity(member)));
  return withMembers(first, [...members, ...others]);
}

/**
 * The members of the first that are not in the second; possibly none. `undefined` unless both are sets of one
 * type.
 */
export function differenceOf(first: AttributeValue, second: AttributeValue): AttributeValue | undefined {
  if (!areOfOneType(first, second)) return undefined;
  const gone = new Set(membersOf(second)?.map(identity));
  return withMembers(
    first,
    (membersOf(first) ?? []).filter((member) => !gone.has(identity(member))),
  );
}

/** The members as single values; `undefined` for a value that isn't a set. */
export function membersOf(value: AttributeValue): readonly AttributeValue[] | undefined {
  if ("SS" in value) return value.SS.map((S) => ({ S }));
  if ("NS" in value) return value.NS.map((N) => ({ N }));
  if ("BS" in value) return value.BS.map((B) => ({ B }));
  return undefined;
}

function areOfOneType(first: AttributeValue, second: AttributeValue): boolean {
  return ["SS", "NS", "BS"].some((type) => type in first && type in second);
}

function withMembers(set: AttributeValue, members: readonly AttributeValue[]): AttributeValue {
  const sorted = members.toSorted((first, second) => compareScalars(first, second) ?? 0);
  if ("SS" in set) return { SS: sorted.map((member) => (member as { readonly S: string }).S) };
  if ("NS" in set) return { NS: sorted.map((member) => (member as { readonly N: string }).N) };
  return { BS: sorted.map((member) => (member as { readonly B: Uint8Array }).B) };
}

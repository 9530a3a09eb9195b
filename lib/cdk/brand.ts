// Marks of constructs that another copy of this package knows too: an app may hold two. No I/O.

export function brand(construct: object, mark: symbol): void {
  Object.defineProperty(construct, mark, { value: true });
}

export function isBranded(value: unknown, mark: symbol): boolean {
  return typeof value === "object" && value !== null && mark in value;
}

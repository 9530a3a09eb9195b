// Marks on constructs that other copies of this package recognize too: an app may load two. No I/O.

export function brand(construct: object, mark: symbol): void {
  Object.defineProperty(construct, mark, { value: true });
}

export function isBranded(value: unknown, mark: symbol): boolean {
  return typeof value === "object" && value !== null && mark in value;
}

/**
 * Copies inputs and responses, so the caller and the model don't see each other's later changes.
 * Properties that are undefined are left out.
 */

export function copied<T>(value: T): T {
  return copyOf(value) as T;
}

function copyOf(value: unknown): unknown {
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (Array.isArray(value)) return value.map(copyOf);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => (each === undefined ? [] : [[name, copyOf(each)]])),
  );
}

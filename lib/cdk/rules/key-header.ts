// The header of the idempotency key, as settings of gateways name it. No I/O.

/** The default of `header`; a handler may read another one. */
export const KEY_HEADER = "Idempotency-Key";

export const isKeyHeader = (name: unknown) => `${name}`.toLowerCase() === KEY_HEADER.toLowerCase();

/** Whether a list of header names may hold the key's. A list or a name that is known at deployment only may. */
export function mayHoldKey(names: unknown): boolean {
  if (names === undefined) return false;
  return !Array.isArray(names) || names.some((name) => typeof name !== "string" || isKeyHeader(name));
}

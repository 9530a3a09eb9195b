// The header of the idempotency key, in the settings of gateways. No I/O.

/** The default of `header`. A handler may read another one. */
export const KEY_HEADER = "Idempotency-Key";

export const isKeyHeader = (name: unknown) => `${name}`.toLowerCase() === KEY_HEADER.toLowerCase();

/** Whether a list of header names may contain the key's. A list or name that is only known at deployment may. */
export function mayHoldKey(names: unknown): boolean {
  if (names === undefined) return false;
  return !Array.isArray(names) || names.some((name) => typeof name !== "string" || isKeyHeader(name));
}

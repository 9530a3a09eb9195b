/** The address of a result stored outside its record: several texts encoded as one. */

export const resultAddressOf = (...parts: readonly string[]): string => JSON.stringify(parts);

/** The parts given to `resultAddressOf`; empty for other text. */
export function readResultAddress(address: string): readonly string[] {
  try {
    const parts: unknown = JSON.parse(address);
    return Array.isArray(parts) ? parts.map(String) : [];
  } catch {
    return [];
  }
}

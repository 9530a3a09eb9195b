/** The address of a result that a store loads apart: parts of text, in one text. */

export const resultAddressOf = (...parts: readonly string[]): string => JSON.stringify(parts);

/** What `resultAddressOf` was given; nothing for other text. */
export function readResultAddress(address: string): readonly string[] {
  try {
    const parts: unknown = JSON.parse(address);
    return Array.isArray(parts) ? parts.map(String) : [];
  } catch {
    return [];
  }
}

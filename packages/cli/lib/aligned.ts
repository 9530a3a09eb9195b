/** Prints rows as columns that line up. */

/** @returns a line for each row, with two spaces between columns */
export function aligned(rows: readonly (readonly [name: string, value: string])[]): string[] {
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
}

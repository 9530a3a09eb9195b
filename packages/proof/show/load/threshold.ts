// A threshold of the load: a count that is expected, and the one that was found. Pure.

export interface Threshold {
  readonly name: string;
  readonly expected: number;
  /** `undefined` if the run could not see it. */
  readonly found: number | undefined;
  /** What is off, one line each. */
  readonly off: readonly string[];
}

/** Even if the numbers agree: one order too many and one too few are two faults. */
export function isBroken({ expected, found, off }: Threshold): boolean {
  return found !== undefined && (found !== expected || off.length > 0);
}

/** A threshold for a fault. @param off `undefined` if the run could not see it */
export function noneOf(name: string, off: readonly string[] | undefined): Threshold {
  return { name, expected: 0, found: off?.length, off: off ?? [] };
}

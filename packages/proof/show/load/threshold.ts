// A threshold of the load: a count that is expected, and the one that was found. Pure.

export interface Threshold {
  readonly name: string;
  readonly expected: number;
  /** `undefined` where the run could not see it. */
  readonly found: number | undefined;
  /** What is off, a line for each. */
  readonly off: readonly string[];
}

/** Also where the numbers agree: one order too many and one too few are two faults. */
export function isBroken({ expected, found, off }: Threshold): boolean {
  return found !== undefined && (found !== expected || off.length > 0);
}

/** A threshold for what must not be. @param off `undefined` where the run could not see it */
export function noneOf(name: string, off: readonly string[] | undefined): Threshold {
  return { name, expected: 0, found: off?.length, off: off ?? [] };
}

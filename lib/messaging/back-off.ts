/** How long it takes until what failed is tried again. */

/** The first try after a failure comes with the next sweep, those after it at intervals that double. */
const FIRST_DELAY_MS = 30_000;
export const MAX_DELAY_MS = 900_000;

export function delayAfter(tries: number): number {
  return tries < 2 ? 0 : Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (tries - 2));
}

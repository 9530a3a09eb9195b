/** How long a failed message or line waits for its next try. Pure. */

/** The next sweep retries first; after that, the intervals double. */
const FIRST_DELAY_MS = 30_000;
export const MAX_RETRY_DELAY_MS = 900_000;

export function retryDelayMs(tries: number): number {
  return tries < 2 ? 0 : Math.min(MAX_RETRY_DELAY_MS, FIRST_DELAY_MS * 2 ** (tries - 2));
}

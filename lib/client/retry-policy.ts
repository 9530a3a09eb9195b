/** Decides which responses are retried, and after how long. Pure. */

const RETRIED_STATUSES = [429, 500, 502, 503, 504];

/**
 * 409 is retried only with `Retry-After`: then the first try is still in progress. Without that header 409 is
 * the application's own conflict. 400 and 422 (the key was used with another payload) never get better.
 */
export function isRetried(response: Response, retryAfterMs: number | undefined): boolean {
  return (
    RETRIED_STATUSES.includes(response.status) || (response.status === 409 && retryAfterMs !== undefined)
  );
}

/**
 * `Retry-After` (RFC 9110, section 10.2.3), seconds or any of the three HTTP dates, as milliseconds from now.
 * A date is compared with the server's own `Date` if that header is visible: the client's clock may be wrong.
 */
export function readRetryAfter(response: Response, nowMs: number): number | undefined {
  const value = response.headers.get("retry-after")?.trim() ?? "";
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const at = parseHttpDate(value);
  if (at === undefined) return undefined;
  return Math.max(0, at - (parseHttpDate(response.headers.get("date") ?? "") ?? nowMs));
}

/** Full jitter below a doubling bound; a server's `Retry-After` is kept whole, with some jitter after it. */
export function waitBeforeRetry(
  tries: number,
  retryAfterMs: number | undefined,
  bounds: { readonly firstDelaySeconds: number; readonly maxDelaySeconds: number },
  random: number,
): number {
  const firstMs = bounds.firstDelaySeconds * 1000;
  // Many clients get the same time, so add up to a tenth at random to spread them.
  if (retryAfterMs !== undefined) return retryAfterMs + random * Math.max(firstMs, retryAfterMs / 10);
  return random * Math.min(bounds.maxDelaySeconds * 1000, firstMs * 2 ** (tries - 1));
}

function parseHttpDate(value: string): number | undefined {
  // Date.parse would accept "-5" and "1.5" as dates; asctime dates have no zone and mean GMT.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(value)) return undefined;
  const time = Date.parse(value.endsWith("GMT") ? value : `${value} GMT`);
  return Number.isNaN(time) ? undefined : time;
}

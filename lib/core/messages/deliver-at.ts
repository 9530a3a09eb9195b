/** Reads `deliverAt`, the time at which a message is delivered. Pure. */

/** The rule, as errors state it. */
export const DELIVER_AT_RULE =
  "must be a valid Date, or an ISO 8601 string with a time and `Z` or an offset, such as 2026-12-24T18:00:00+01:00, between 2001-09-09 and the year 9999 (`new Date` expects milliseconds)";

const ISO = /^(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/;

/** Seconds that were taken for milliseconds are earlier, until the year 33658. */
const MIN_MS = 1e12;
const MAX_MS = Date.UTC(9999, 11, 31, 23, 59, 59);

/** The time in UTC, in one spelling; `undefined` for anything that breaks the rule. */
export function readDeliverAt(value: unknown): string | undefined {
  const ms = value instanceof Date ? value.getTime() : timeIn(value);
  return ms >= MIN_MS && ms <= MAX_MS ? new Date(ms).toISOString() : undefined;
}

/** Without an offset, `Date.parse` would use the time zone of the host, and it turns February 30 into March 2. */
function timeIn(value: unknown): number {
  const [text, local] = (typeof value === "string" && ISO.exec(value)) || [];
  const asUtc = Date.parse(`${local}Z`);
  const isReal = asUtc >= 0 && new Date(asUtc).toISOString().startsWith(`${local?.slice(0, 16)}`);
  return isReal ? Date.parse(`${text}`) : Number.NaN;
}

/** When a stored message is due (epoch ms); `NaN` if it has no such time. */
export function dueTimeOf({ deliverAt }: { readonly deliverAt?: unknown }): number {
  return typeof deliverAt === "string" ? Date.parse(deliverAt) : Number.NaN;
}

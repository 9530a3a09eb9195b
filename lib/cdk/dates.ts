// Every point in time that a construct accepts is a Date. No I/O.

/** DynamoDB was launched in 2012. An earlier time was probably passed in seconds, and would deny nothing. */
const FIRST_TABLES = Date.UTC(2012, 0, 18);

/** The problem with a point in time, or `undefined` if it's valid. */
export function wrongTime(time: unknown): string | undefined {
  if (!(time instanceof Date)) return `a ${typeof time}, not a Date`;
  if (Number.isNaN(time.getTime())) return "an invalid Date";
  if (time.getTime() >= FIRST_TABLES) return undefined;
  return `${time.toISOString()}, before DynamoDB existed (Date expects milliseconds, not seconds)`;
}

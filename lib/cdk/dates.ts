// Every point in time that a construct accepts is a Date. No I/O.

/** DynamoDB began in 2012. An earlier time is one in seconds, and would close nothing. */
const FIRST_TABLES = Date.UTC(2012, 0, 18);

/** What is wrong with a point in time, or `undefined` for a right one. */
export function wrongTime(time: unknown): string | undefined {
  if (!(time instanceof Date)) return `a ${typeof time} and not a Date`;
  if (Number.isNaN(time.getTime())) return "not a date";
  if (time.getTime() >= FIRST_TABLES) return undefined;
  return `${time.toISOString()}, when there were no tables: a Date takes milliseconds`;
}

// Wall clocks: the time that a clock in a time zone shows, written as the epoch ms at which a UTC clock shows it. Pure.

export function wallClock(instantMs: number, timeZone: string): number {
  const parts = formatOf(timeZone).formatToParts(instantMs);
  const value = (type: string) => Number(parts.find((part) => part.type === type)?.value);
  const wall = Date.UTC(
    value("year"),
    value("month") - 1,
    value("day"),
    value("hour"),
    value("minute"),
    value("second"),
  );
  return wall + (((instantMs % 1000) + 1000) % 1000);
}

/** The first instant at which the clock shows that time; `undefined` if it never does. */
export function instantOf(wallMs: number, timeZone: string): number | undefined {
  // A day before and after, the offset is the one before and after any change.
  const offsets = [-DAY_MS, DAY_MS].map((shift) => wallClock(wallMs + shift, timeZone) - (wallMs + shift));
  const candidates = offsets.map((offset) => wallMs - offset).sort((a, b) => a - b);
  return candidates.find((instant) => wallClock(instant, timeZone) === wallMs);
}

const DAY_MS = 86_400_000;

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    formats.set(timeZone, format);
  }
  return format;
}

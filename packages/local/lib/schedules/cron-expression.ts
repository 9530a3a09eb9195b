// The six fields of `cron(minutes hours day-of-month month day-of-week year)`, on a UTC clock. Translates them into the
// pattern that croner reads.
// https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#cron-based
import { Cron } from "croner";

/** The next time after another, both in epoch ms; `undefined` if there is none. */
export type NextTime = (afterMs: number) => number | undefined;

interface Field {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
  /** Added to each value: croner's Sunday is 0. */
  readonly shift?: number;
}

const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const DATE_FIELD = 2;
const WEEKDAY_FIELD = 4;
const LAST_YEAR = 2199;

const FIELDS: readonly Field[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: MONTHS },
  { min: 1, max: 7, names: WEEKDAYS, shift: -1 },
  { min: 1970, max: LAST_YEAR },
];

/** @throws Error for an expression that AWS refuses */
export function cronTimes(argument: string): NextTime {
  const fields = argument.trim().split(/\s+/);
  if (fields.length !== FIELDS.length || (fields[DATE_FIELD] === "?") === (fields[WEEKDAY_FIELD] === "?")) {
    throw new Error(
      `cron needs six fields, with ? as either day-of-month or day-of-week (got cron(${argument}))`,
    );
  }
  const pattern = ["0", ...fields.map(translateField)].join(" ");
  const cron = new Cron(pattern, { timezone: "UTC", mode: "7-part" });
  return (afterMs) => {
    const next = cron.nextRun(new Date(afterMs));
    return next === null || next.getUTCFullYear() > LAST_YEAR ? undefined : next.getTime();
  };
}

function translateField(field: string, index: number): string {
  const values = FIELDS[index] as Field;
  if (index === DATE_FIELD || index === WEEKDAY_FIELD) {
    if (field === "?") return "*";
    if (field === "L") return index === DATE_FIELD ? "L" : "6";
    // `15W` is the weekday nearest to the 15th, `6L` the last Friday, `6#2` the second one. AWS doesn't allow lists of them.
    const [, value, mark] = /^(\w+?)(W|L|#[1-5])$/.exec(field) ?? [];
    if (value !== undefined) return `${readValue(value, values)}${mark}`;
  }
  return field
    .split(",")
    .map((part) => translatePart(part, values))
    .join(",");
}

function translatePart(part: string, field: Field): string {
  const { min, max, shift = 0 } = field;
  const [range = "", stepText] = part.split("/");
  const [first = "", last] = range === "*" ? [`${min}`, `${max}`] : range.split("-");
  const from = readValue(first, field);
  if (last === undefined && stepText === undefined) return `${from}`;
  const end = max + shift;
  const to = last === undefined ? end : readValue(last, field);
  const step = stepText === undefined ? 1 : Number(stepText);
  const stepped = (start: number, until: number) =>
    step > until - start ? `${start}` : `${start}-${until}/${step}`;
  if (from <= to) return stepped(from, to);
  // SAT-MON continues past the end of the week, and the step keeps counting.
  const again = min + shift + ((step - ((end - from + 1) % step)) % step);
  return again > to ? stepped(from, end) : `${stepped(from, end)},${stepped(again, to)}`;
}

function readValue(text: string, { min, max, names = [], shift = 0 }: Field): number {
  const named = names.indexOf(text.toUpperCase());
  const value = named < 0 ? Number(text === "" ? Number.NaN : text) : named + min;
  if (Number.isInteger(value) && value >= min && value <= max) return value + shift;
  throw new Error(`this cron field accepts values from ${min} to ${max} (got "${text}")`);
}

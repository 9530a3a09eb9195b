// The six fields of `cron(minutes hours day-of-month month day-of-week year)`, on a UTC clock. Pure.
// https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#cron-based
import { fieldValues } from "./cron-field.ts";

/** The next time after another, both in epoch ms; `undefined` when there is none. */
export type NextTime = (afterMs: number) => number | undefined;

const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const FIRST_YEAR = 1970;
const LAST_YEAR = 2199;
const DAY_MS = 86_400_000;

type DayMatches = (day: Date) => boolean;

export function cronTimes(argument: string): NextTime {
  const fields = argument.trim().split(/\s+/);
  const [minuteField, hourField, dateField, monthField, weekdayField, yearField] = fields;
  if (fields.length !== 6 || (dateField === "?") === (weekdayField === "?")) {
    throw new Error(
      `cron takes six fields, with ? as one of day-of-month and day-of-week, got cron(${argument})`,
    );
  }
  const minutes = fieldValues(minuteField, 0, 59);
  const hours = fieldValues(hourField, 0, 23);
  const months = new Set(fieldValues(monthField, 1, 12, MONTHS));
  const years = new Set(fieldValues(yearField, FIRST_YEAR, LAST_YEAR));
  const matchesDay =
    dateField === "?" ? weekdayMatcher(String(weekdayField)) : dateMatcher(String(dateField));
  const lastYear = Math.max(...years);

  return (afterMs) => {
    const first = new Date(afterMs - (((afterMs % DAY_MS) + DAY_MS) % DAY_MS));
    for (let day = first; day.getUTCFullYear() <= lastYear; day = new Date(day.getTime() + DAY_MS)) {
      if (!years.has(day.getUTCFullYear()) || !months.has(day.getUTCMonth() + 1) || !matchesDay(day))
        continue;
      for (const hour of hours) {
        for (const minute of minutes) {
          const time = day.getTime() + (hour * 60 + minute) * 60_000;
          if (time > afterMs) return time;
        }
      }
    }
    return undefined;
  };
}

/** `L` is the last day of the month, `15W` the weekday nearest to the 15th. */
function dateMatcher(field: string): DayMatches {
  if (field === "L") return (day) => day.getUTCDate() === lastDateOf(day);
  const [, nearest] = /^(\d{1,2})W$/.exec(field) ?? [];
  if (nearest !== undefined) return (day) => day.getUTCDate() === nearestWeekday(day, Number(nearest));
  const dates = new Set(fieldValues(field, 1, 31));
  return (day) => dates.has(day.getUTCDate());
}

/** Sunday is 1. `6L` is the last Friday of the month, `6#2` the second, and `L` alone is Saturday. */
function weekdayMatcher(field: string): DayMatches {
  if (field === "L") return (day) => day.getUTCDay() === 6;
  const [, name = "", mark, count] = /^(\w+?)(?:(L)|#([1-5]))$/.exec(field) ?? [];
  if (name !== "") {
    const weekdays = fieldValues(name, 1, 7, WEEKDAYS);
    return (day) => {
      if (!weekdays.includes(day.getUTCDay() + 1)) return false;
      if (mark === "L") return day.getUTCDate() > lastDateOf(day) - 7;
      return Math.ceil(day.getUTCDate() / 7) === Number(count);
    };
  }
  const weekdays = new Set(fieldValues(field, 1, 7, WEEKDAYS));
  return (day) => weekdays.has(day.getUTCDay() + 1);
}

function lastDateOf(day: Date): number {
  return new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 0)).getUTCDate();
}

/** It stays in its month. */
function nearestWeekday(day: Date, date: number): number {
  const weekday = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), date)).getUTCDay();
  if (weekday === 6) return date === 1 ? 3 : date - 1;
  if (weekday === 0) return date === lastDateOf(day) ? date - 2 : date + 1;
  return date;
}

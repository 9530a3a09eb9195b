// When a schedule is due: `rate(5 minutes)`, `cron(0 8 ? * MON-FRI *)` and `at(2030-01-31T08:00:00)`. Pure.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html
import { cronTimes, type NextTime } from "./cron-expression.ts";
import { instantOf, wallClock } from "./time-zone.ts";

const UNIT_MS: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/**
 * @param createdAtMs from when a rate counts
 * @throws Error for an expression that AWS refuses
 */
export function nextTimeOf(expression: string, createdAtMs: number, timeZone = "UTC"): NextTime {
  const [, kind, argument = ""] = /^(rate|cron|at)\((.*)\)$/.exec(expression.trim()) ?? [];
  if (kind === "rate") return everyPeriod(expression, argument, createdAtMs);
  if (kind === "at") return once(expression, argument, timeZone);
  if (kind === "cron") return onWallClock(cronTimes(argument), timeZone);
  throw new Error(`a schedule must be rate(…), cron(…) or at(…) (got ${expression})`);
}

function everyPeriod(expression: string, argument: string, createdAtMs: number): NextTime {
  const [, digits, unit = "", plural] = /^([1-9]\d*)\s+(minute|hour|day)(s?)$/.exec(argument.trim()) ?? [];
  const count = Number(digits);
  if (digits === undefined || (count === 1) === (plural === "s")) {
    throw new Error(
      `a rate must look like rate(1 minute), rate(2 hours) or rate(3 days) (got ${expression})`,
    );
  }
  const periodMs = count * Number(UNIT_MS[unit]);
  return (afterMs) => {
    const periods = Math.max(0, Math.floor((afterMs - createdAtMs) / periodMs));
    return createdAtMs + (periods + 1) * periodMs;
  };
}

function once(expression: string, argument: string, timeZone: string): NextTime {
  const wallMs = Date.parse(`${argument}Z`);
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(argument) || Number.isNaN(wallMs)) {
    throw new Error(`a one-time schedule must be at(yyyy-mm-ddThh:mm:ss) (got ${expression})`);
  }
  const atMs = instantOf(wallMs, timeZone);
  return (afterMs) => (atMs !== undefined && atMs > afterMs ? atMs : undefined);
}

/** A time that the change to summer time leaves out is skipped. */
function onWallClock(nextWall: NextTime, timeZone: string): NextTime {
  return (afterMs) => {
    for (let wall = nextWall(wallClock(afterMs, timeZone)); wall !== undefined; wall = nextWall(wall)) {
      const instant = instantOf(wall, timeZone);
      if (instant !== undefined && instant > afterMs) return instant;
    }
    return undefined;
  };
}

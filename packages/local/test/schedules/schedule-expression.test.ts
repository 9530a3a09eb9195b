import { describe, expect, it } from "vitest";
import { nextTimeOf } from "../../lib/schedules/schedule-expression.ts";

const time = (text: string) => Date.parse(`${text}Z`);

function following(expression: string, after: string, count: number, timeZone?: string): string[] {
  const next = nextTimeOf(expression, time(after), timeZone);
  const times: string[] = [];
  for (let at = next(time(after)); at !== undefined && times.length < count; at = next(at)) {
    times.push(new Date(at).toISOString().slice(0, 16));
  }
  return times;
}

describe("nextTimeOf", () => {
  // 2030-01-01 is a Tuesday.
  it.each([
    ["rate(90 minutes)", ["2030-01-01T01:30", "2030-01-01T03:00"]],
    ["rate(1 day)", ["2030-01-02T00:00", "2030-01-03T00:00"]],
    ["cron(0 10 * * ? *)", ["2030-01-01T10:00", "2030-01-02T10:00"]],
    ["cron(15 12 ? * MON-FRI *)", ["2030-01-01T12:15", "2030-01-02T12:15"]],
    ["cron(0 0 ? * SAT-SUN 2030)", ["2030-01-05T00:00", "2030-01-06T00:00"]],
    ["cron(0/20 8-9 1 * ? *)", ["2030-01-01T08:00", "2030-01-01T08:20"]],
    ["cron(5,35 14 * * ? 2031)", ["2031-01-01T14:05", "2031-01-01T14:35"]],
    ["cron(0 0 L * ? *)", ["2030-01-31T00:00", "2030-02-28T00:00"]],
    ["cron(0 0 3W 2,3 ? *)", ["2030-02-04T00:00", "2030-03-04T00:00"]],
    ["cron(0 0 ? * 6L *)", ["2030-01-25T00:00", "2030-02-22T00:00"]],
    ["cron(0 0 ? * THU#2 *)", ["2030-01-10T00:00", "2030-02-14T00:00"]],
    ["cron(0 0 29 2 ? *)", ["2032-02-29T00:00", "2036-02-29T00:00"]],
    ["cron(0 0 ? * L *)", ["2030-01-05T00:00", "2030-01-12T00:00"]],
    ["cron(0 0 ? * SAT-MON *)", ["2030-01-05T00:00", "2030-01-06T00:00"]],
    ["cron(0 0 ? * 6-3/2 *)", ["2030-01-04T00:00", "2030-01-06T00:00"]],
    ["cron(0 22-2/3 * * ? *)", ["2030-01-01T01:00", "2030-01-01T22:00"]],
    ["cron(0/90 4 * * ? *)", ["2030-01-01T04:00", "2030-01-02T04:00"]],
    ["cron(0 0 1 1 ? 2029/4)", ["2033-01-01T00:00", "2037-01-01T00:00"]],
    ["cron(0 0 1 1 ? 2199)", ["2199-01-01T00:00"]],
    ["at(2030-06-01T12:00:00)", ["2030-06-01T12:00"]],
    ["at(2029-06-01T12:00:00)", []],
    ["cron(0 0 31 2 ? *)", []],
  ])("reads %s", (expression, times) => {
    expect(following(expression, "2030-01-01T00:00", 2)).toEqual(times);
  });

  it("keeps the wall clock's time when summer time begins", () => {
    const times = following("cron(0 8 * * ? *)", "2030-03-30T00:00", 2, "Europe/Berlin");

    expect(times).toEqual(["2030-03-30T07:00", "2030-03-31T06:00"]);
  });

  it("skips a time that the change to summer time leaves out, and fires once if one comes twice", () => {
    expect(following("cron(30 2 * * ? *)", "2030-03-30T12:00", 1, "Europe/Berlin")).toEqual([
      "2030-04-01T00:30",
    ]);
    expect(following("cron(30 2 * * ? *)", "2030-10-26T12:00", 2, "Europe/Berlin")).toEqual([
      "2030-10-27T00:30",
      "2030-10-28T01:30",
    ]);
  });

  it("fires once for a quarter of an hour that comes twice when summer time ends", () => {
    expect(following("cron(0/15 2 * * ? *)", "2030-10-26T12:00", 5, "Europe/Berlin")).toEqual([
      "2030-10-27T00:00",
      "2030-10-27T00:15",
      "2030-10-27T00:30",
      "2030-10-27T00:45",
      "2030-10-28T01:00",
    ]);
  });

  it.each([
    "rate(1 minutes)",
    "rate(5 minute)",
    "rate(0 minutes)",
    "cron(0 10 * * *)",
    "cron(0 10 * * * *)",
    "cron(60 10 * * ? *)",
    "cron(0 10 ? * FOO *)",
    "cron(0 10 ? * 8 *)",
    "cron(? 10 * * ? *)",
    "cron(0 10 ? * 3#1,6#3 *)",
    "cron(0 10 1W,3 * ? *)",
    "cron(5L 10 * * ? *)",
    "cron(0 0 * * ? 2200)",
    "at(2030-01-01)",
    "every day",
  ])("refuses %s", (expression) => {
    expect(() => nextTimeOf(expression, 0)).toThrow();
  });
});

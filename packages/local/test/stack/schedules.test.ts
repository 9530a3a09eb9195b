// Schedules of a template, on a clock that the tests move.
import { afterEach, describe, expect, it } from "vitest";
import { fakeClock } from "../../../../lib/testing/fake-clock.ts";
import { inlineFunction, startTemplate, until } from "./world.ts";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const START = Date.parse("2030-01-01T00:00:30Z");
const Arn = (name: string) => ({ "Fn::GetAtt": [name, "Arn"] });

async function start(schedule: { Type: string; Properties: object }, body = "print(event)") {
  const clock = fakeClock(START);
  const Jobs = { Type: "AWS::SQS::Queue" };
  const resources = { Sweep: inlineFunction(body), Jobs, Schedule: schedule };
  const stack = await startTemplate(resources, cleanups, { clock });
  return { stack, clock };
}

const rule = (Properties: object, target: object = {}) => ({
  Type: "AWS::Events::Rule",
  Properties: { Targets: [{ Id: "Target0", Arn: Arn("Sweep"), ...target }], ...Properties },
});

const schedule = (Properties: object, target: object = {}) => ({
  Type: "AWS::Scheduler::Schedule",
  Properties: {
    FlexibleTimeWindow: { Mode: "OFF" },
    Target: { Arn: Arn("Sweep"), RoleArn: "arn:aws:iam::000000000000:role/r", ...target },
    ...Properties,
  },
});

describe("AWS::Events::Rule with a schedule", () => {
  it("invokes its function each time it is due, with the event of a schedule", async () => {
    const { stack, clock } = await start(rule({ Name: "sweep", ScheduleExpression: "rate(5 minutes)" }));

    await clock.advance(299_000);
    const early = stack.printed();
    await clock.advance(1000);
    await until(() => stack.printed().length === 1);
    await clock.advance(300_000);
    await until(() => stack.printed().length === 2);

    expect(early).toEqual([]);
    expect(stack.printed()).toMatchObject([
      {
        version: "0",
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        "detail-type": "Scheduled Event",
        source: "aws.events",
        account: "000000000000",
        time: "2030-01-01T00:05:30Z",
        region: "us-east-1",
        resources: ["arn:aws:events:us-east-1:000000000000:rule/sweep"],
        detail: {},
      },
      { time: "2030-01-01T00:10:30Z" },
    ]);
    expect(stack.notRun).toEqual([]);
  });

  it("gives the fixed input instead, and sends messages to queues", async () => {
    const target = { Arn: Arn("Jobs"), Input: '{"job":"sweep"}' };
    const { stack, clock } = await start(rule({ ScheduleExpression: "cron(0/15 * * * ? *)" }, target));

    await clock.advance(15 * 60_000);
    await until(() => stack.lines.length > 0);

    expect(stack.lines).toEqual(["Schedule → Jobs: sent"]);
  });

  it("fires on request, even if it is disabled", async () => {
    const { stack, clock } = await start(rule({ ScheduleExpression: "rate(1 minute)", State: "DISABLED" }));

    await clock.advance(600_000);
    const before = stack.printed();
    await stack.schedules.Schedule?.fire();

    expect(before).toEqual([]);
    await until(() => stack.printed().length === 1);
  });

  it("H41: tries a failed invocation twice more, under the same request id", async () => {
    const { stack, clock } = await start(
      rule({ ScheduleExpression: "rate(1 day)" }),
      "print({ requestId: context.awsRequestId }); process.exit(1);",
    );
    const attempts = () => stack.lines.filter((line) => line.startsWith("Schedule → Sweep"));

    await stack.schedules.Schedule?.fire();
    await clock.advance(60_000);
    await until(() => attempts().length === 2);
    await clock.advance(120_000);
    await until(() => attempts().length === 3);
    await clock.advance(3_600_000);

    expect(attempts().map((line) => line.split("; ")[1])).toEqual([
      "retrying in 60 s",
      "retrying in 120 s",
      "gave up",
    ]);
    const requestIds = stack.printed<{ requestId: string }>().map(({ requestId }) => requestId);
    expect(requestIds).toHaveLength(3);
    expect(new Set(requestIds).size).toBe(1);
  });

  it.each([
    [
      "an input that is made from the event",
      { ScheduleExpression: "rate(1 day)" },
      { Arn: "arn:aws:sns:us-east-1:000000000000:news", InputPath: "$.time" },
      "the input of arn:aws:sns:us-east-1:000000000000:news is derived from the event, which isn't supported for schedules",
    ],
    [
      "a target that does not run here",
      { ScheduleExpression: "rate(1 day)" },
      { Arn: "arn:aws:sns:us-east-1:000000000000:news" },
      "its target arn:aws:sns:us-east-1:000000000000:news isn't a function, queue or topic of this run",
    ],
  ])("names %s", async (_, properties, target, problem) => {
    const { stack } = await start(rule(properties, target));

    expect(stack.notRun).toEqual([`AWS::Events::Rule Schedule (Schedule): ${problem}`]);
  });

  it("refuses an expression that AWS refuses", async () => {
    await expect(start(rule({ ScheduleExpression: "rate(1 minutes)" }))).rejects.toThrow(
      "got rate(1 minutes)",
    );
  });
});

describe("AWS::Scheduler::Schedule", () => {
  it("follows its zone's time, from its start to its end", async () => {
    const { stack, clock } = await start(
      schedule({
        ScheduleExpression: "cron(0 8 * * ? *)",
        ScheduleExpressionTimezone: "America/New_York",
        StartDate: "2030-01-02T00:00:00Z",
        EndDate: "2030-01-03T00:00:00Z",
      }),
    );

    await clock.advance(5 * 86_400_000);
    await until(() => stack.printed().length > 0);

    expect(stack.printed()).toMatchObject([
      { source: "aws.scheduler", time: "2030-01-02T13:00:00Z", detail: "{}" },
    ]);
  });

  it("fills in its context and fires once at a single time", async () => {
    const Input = '{"at":"<aws.scheduler.scheduled-time>","by":"<aws.scheduler.schedule-arn>"}';
    const { stack, clock } = await start(
      schedule({ Name: "once", ScheduleExpression: "at(2030-01-01T00:01:00)" }, { Input }),
    );

    await clock.advance(3_600_000);
    await until(() => stack.printed().length > 0);

    expect(stack.printed()).toEqual([
      { at: "2030-01-01T00:01:00Z", by: "arn:aws:scheduler:us-east-1:000000000000:schedule/default/once" },
    ]);
  });
});

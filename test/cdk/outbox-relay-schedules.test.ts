// What OutboxRelay allows for messages with `deliverAt`, and to whom.
import { Match, Template } from "aws-cdk-lib/assertions";
import { EventBus } from "aws-cdk-lib/aws-events";
import { Code, Function as LambdaFunction, Runtime } from "aws-cdk-lib/aws-lambda";
import { ScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { DedupQueue } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { rightsOf } from "../kit/rights.ts";
import { unitStack } from "./app-given.ts";
import { outboxIn } from "./outbox-relay-given.ts";

const PASSING = {
  on: "OutboxSchedulerRole",
  actions: ["iam:PassRole"],
  condition: { StringEquals: { "iam:PassedToService": "scheduler.amazonaws.com" } },
};

function withSchedules() {
  const stack = unitStack();
  const scheduleGroup = new ScheduleGroup(stack, "Later");
  const undeliveredQueue = new Queue(stack, "Undelivered");
  const outbox = outboxIn(stack, {
    scheduleGroup,
    undeliveredQueue,
    destinations: [new DedupQueue(stack, "Queue").queue],
  });
  outbox.addDestination(new EventBus(stack, "Bus"));
  const fn = new LambdaFunction(stack, "Place", {
    runtime: Runtime.NODEJS_24_X,
    handler: "index.handler",
    code: Code.fromInline("exports.handler = () => {}"),
  });
  return { stack, outbox, fn };
}

/** The schedules of the one group. */
const schedulesIn = (template: Template, rolePrefix: string) =>
  rightsOf(template, rolePrefix).filter(({ actions }) =>
    actions.some((each) => each.startsWith("scheduler:")),
  );

describe("OutboxRelay with a schedule group", () => {
  it("lets relay and sweeper create schedules in that group only, and pass on the role that sends", () => {
    const template = Template.fromStack(withSchedules().stack);

    for (const role of ["OutboxRelayRole", "OutboxSweeperRole"]) {
      expect(rightsOf(template, role)).toContainEqual(PASSING);
      const [creating, ...others] = schedulesIn(template, role);
      expect(creating?.actions).toEqual(["scheduler:CreateSchedule"]);
      expect(creating?.on).toMatch(/:schedule\/.*Later.*\/\*/);
      expect(others).toEqual([]);
    }
    expect(rightsOf(template, "OutboxSchedulerRole")).toEqual([
      { on: "Undelivered", actions: ["sqs:SendMessage"] },
      { on: "Queue", actions: ["sqs:SendMessage"] },
      { on: "Bus", actions: ["events:DescribeEventBus"] },
      { on: "Bus", actions: ["events:PutEvents"] },
    ]);
  });

  it("lets only schedules of the group use the role, and passes it to both functions", () => {
    const template = Template.fromStack(withSchedules().stack);

    template.hasResourceProperties("AWS::IAM::Role", {
      AssumeRolePolicyDocument: {
        Statement: [
          {
            Action: "sts:AssumeRole",
            Principal: { Service: "scheduler.amazonaws.com" },
            Condition: {
              StringEquals: {
                "aws:SourceAccount": Match.anyValue(),
                "aws:SourceArn": { "Fn::GetAtt": [Match.stringLikeRegexp("^Later"), "Arn"] },
              },
            },
          },
        ],
      },
    });
    for (const Handler of ["index.relay", "index.sweeper"]) {
      template.hasResourceProperties("AWS::Lambda::Function", {
        Handler,
        Environment: {
          Variables: { OUTBOX_SCHEDULER: { "Fn::Join": ["", Match.arrayWith(['{"groupArn":"'])] } },
        },
      });
    }
  });

  it("grants a function that makes schedules of its own also to delete them, and passes their group to it", () => {
    const { stack, outbox, fn } = withSchedules();
    outbox.grantScheduling(fn);
    const template = Template.fromStack(stack);

    expect(schedulesIn(template, "PlaceServiceRole")[0]?.actions).toEqual([
      "scheduler:CreateSchedule",
      "scheduler:DeleteSchedule",
    ]);
    expect(rightsOf(template, "PlaceServiceRole")).toContainEqual(PASSING);
    template.hasResourceProperties("AWS::Lambda::Function", {
      Handler: "index.handler",
      Environment: { Variables: { OUTBOX_SCHEDULER: Match.anyValue() } },
    });
  });

  it("needs no role without one, and refuses to grant schedules or a FIFO queue for undelivered messages", () => {
    const stack = unitStack();
    const outbox = outboxIn(stack, { destinations: [new DedupQueue(stack, "Queue").queue] });
    const { fn } = withSchedules();
    expect(() => outbox.grantScheduling(fn)).toThrow("Outbox has no scheduleGroup: pass one");
    expect(Object.keys(Template.fromStack(stack).findResources("AWS::IAM::Role"))).not.toContainEqual(
      expect.stringMatching("Scheduler"),
    );

    const other = unitStack();
    const settings = {
      scheduleGroup: new ScheduleGroup(other, "Later"),
      undeliveredQueue: new Queue(other, "Undelivered", { fifo: true }),
    };
    expect(() => outboxIn(other, settings)).toThrow("only sends undelivered messages to standard queues");
  });
});

import { Duration, type Stack } from "aws-cdk-lib";
import { EventField, Rule, RuleTargetInput, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction as FunctionTarget, SqsQueue } from "aws-cdk-lib/aws-events-targets";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { CfnPipe } from "aws-cdk-lib/aws-pipes";
import { Schedule as Scheduled, ScheduleExpression, ScheduleTargetInput } from "aws-cdk-lib/aws-scheduler";
import { LambdaInvoke } from "aws-cdk-lib/aws-scheduler-targets";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { noted, ofItem, runner, warned } from "../given.ts";

const DROPPED = "onceonly:dropped-event-id";
const eventPattern = { source: ["shop"] };

export const ruled =
  (event: RuleTargetInput, when: object = { eventPattern }) =>
  (stack: Stack) =>
    new Rule(stack, "Rule", { ...when, targets: [new FunctionTarget(runner(stack), { event })] });

export const scheduled = (input: unknown, schedule: ScheduleExpression) => (stack: Stack) => {
  const target = new LambdaInvoke(runner(stack), { input: ScheduleTargetInput.fromObject(input) });
  new Scheduled(stack, "Schedule", { schedule, target });
};

export const piped = (inputTemplate: string) => (stack: Stack) => {
  const fn = runner(stack);
  const queue = new Queue(stack, "Queue");
  const roleArn = "arn:aws:iam::111111111111:role/pipe";
  const targetParameters = { inputTemplate };
  new CfnPipe(stack, "Pipe", { source: queue.queueArn, target: fn.functionArn, roleArn, targetParameters });
};

const amount = EventField.fromPath("$.detail.amount");
const daily = { schedule: Schedule.rate(Duration.days(1)) };

export const INPUTS = ofItem("B9", [
  warned("a rule whose transformer omits every id", DROPPED, ruled(RuleTargetInput.fromObject({ amount }))),
  warned(
    "a rule whose transformer creates a string without an id",
    DROPPED,
    ruled(RuleTargetInput.fromText(`paid ${amount}`)),
  ),
  warned(
    "a rule that passes on only a part without an id",
    DROPPED,
    ruled(RuleTargetInput.fromEventPath("$.detail.amount")),
  ),
  warned("a rule that sends a constant", DROPPED, ruled(RuleTargetInput.fromObject({ job: "count" }))),
  noted(
    "a rule that passes on only the detail",
    "onceonly:event-id-unknown",
    ruled(RuleTargetInput.fromEventPath("$.detail")),
  ),
  warned("such a rule that feeds a consumer's queue", DROPPED, (stack) => {
    const queue = new Queue(stack, "Queue");
    runner(stack).addEventSource(new SqsEventSource(queue, { reportBatchItemFailures: true }));
    const message = RuleTargetInput.fromObject({ amount });
    new Rule(stack, "Rule", { eventPattern, targets: [new SqsQueue(queue, { message })] });
  }),
  warned(
    "a scheduled rule that sends a constant, so runs don't get their time",
    DROPPED,
    ruled(RuleTargetInput.fromObject({ job: "count" }), daily),
  ),
  warned(
    "a schedule that sends a constant, so runs don't get their time",
    DROPPED,
    scheduled({ job: "count" }, ScheduleExpression.rate(Duration.days(1))),
  ),
  warned("a pipe whose template omits every id", DROPPED, piped('{ "amount": <$.body.amount> }')),
  noted("a pipe that passes on only the body", "onceonly:event-id-unknown", piped('{ "body": <$.body> }')),
]);

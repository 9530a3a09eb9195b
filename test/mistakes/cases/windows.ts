import { App, Duration, Stack } from "aws-cdk-lib";
import { Annotations, Match, Template } from "aws-cdk-lib/assertions";
import { Rule } from "aws-cdk-lib/aws-events";
import { LambdaFunction as RuleTarget } from "aws-cdk-lib/aws-events-targets";
import { Stream } from "aws-cdk-lib/aws-kinesis";
import {
  Code,
  type FunctionOptions,
  Function as LambdaFunction,
  Runtime,
  StartingPosition,
} from "aws-cdk-lib/aws-lambda";
import { KinesisEventSource, SnsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { Schedule, ScheduleExpression } from "aws-cdk-lib/aws-scheduler";
import { LambdaInvoke } from "aws-cdk-lib/aws-scheduler-targets";
import { Topic } from "aws-cdk-lib/aws-sns";
import { IdempotencyTable, UseIdempotency, type UseIdempotencyOptions } from "onceonly/cdk";
import type { Mistake } from "../given.ts";
import { messageOf } from "../given.ts";

interface Given {
  readonly options?: UseIdempotencyOptions;
  readonly fn?: FunctionOptions;
}

function stackWith(
  add: (stack: Stack, fn: LambdaFunction) => unknown,
  { options, fn = {} }: Given = {},
): Stack {
  const stack = new Stack(
    new App({ builtinCloudFormationValidation: false, analyticsReporting: false }),
    "Shop",
  );
  const code = Code.fromInline("exports.handler = () => {}");
  const consumer = new LambdaFunction(stack, "Ship", {
    runtime: Runtime.NODEJS_24_X,
    handler: "index.handler",
    code,
    ...fn,
  });
  consumer.with(new UseIdempotency(new IdempotencyTable(stack, "Records"), options));
  add(stack, consumer);
  return stack;
}

const refusalOf = (stack: Stack) => messageOf(() => Template.fromStack(stack));

function warningsOf(stack: Stack): string {
  Template.fromStack(stack);
  const found = Annotations.fromStack(stack).findWarning("*", Match.anyValue());
  return found.map(({ entry }) => entry.data).join("\n");
}

const startingPosition = StartingPosition.LATEST;

/** Records that are forgotten before an event source has brought its last redelivery. */
export const WINDOW_MISTAKES: readonly Mistake[] = [
  {
    made: "keeps records for a day, but the stream keeps them for a week",
    reportedBy: "synthesis",
    text: "retention 86400 s < 604920 s, the longest redelivery to Shop/Ship (604800 s in the stream Shop/Orders + client window 120 s): a delivery after the retention would run again",
    make: () =>
      refusalOf(
        stackWith(
          (stack, fn) => {
            const stream = new Stream(stack, "Orders", { retentionPeriod: Duration.days(7) });
            fn.addEventSource(
              new KinesisEventSource(stream, { startingPosition, reportBatchItemFailures: true }),
            );
          },
          { options: { retention: Duration.days(1) } },
        ),
      ),
  },
  {
    made: "keeps records for a day, but the schedule retries for a day",
    reportedBy: "synthesis",
    text: "(86400 s of retries by the schedule Shop/Nightly + 21600 s in the event queue of Shop/Ship + client window 120 s)",
    make: () =>
      refusalOf(
        stackWith((stack, fn) => {
          const schedule = ScheduleExpression.rate(Duration.days(1));
          new Schedule(stack, "Nightly", { schedule, target: new LambdaInvoke(fn) });
        }),
      ),
  },
  {
    made: "keeps records for a day, but SNS retries deliveries from the topic for 23",
    reportedBy: "synthesis",
    text: "Part of that is an AWS maximum. A retention of Duration.days(24) covers it, here and as the handler's retentionSeconds",
    make: () =>
      warningsOf(stackWith((stack, fn) => fn.addEventSource(new SnsEventSource(new Topic(stack, "Topic"))))),
  },
  {
    made: "keeps records for a day, but the EventBridge rule retries for a day",
    reportedBy: "synthesis",
    text: "(86400 s of retries by the rule Shop/Placed + 21600 s in the event queue of Shop/Ship + client window 120 s)",
    make: () =>
      warningsOf(
        stackWith((stack, fn) => {
          const eventPattern = { source: ["shop"] };
          new Rule(stack, "Placed", { eventPattern, targets: [new RuleTarget(fn)] });
        }),
      ),
  },
  {
    made: "gives an asynchronous function a timeout that outlasts its retries",
    reportedBy: "synthesis",
    text: "180 s < 605 s, the lease of an attempt that died (timeout 600 s of Shop/Ship + clock skew 5 s): every retry finds the key in progress, and then the retries run out",
    make: () =>
      warningsOf(
        stackWith((_, fn) => fn.configureAsyncInvoke({ maxEventAge: Duration.hours(6) }), {
          fn: { timeout: Duration.minutes(10) },
        }),
      ),
  },
  {
    made: "reads a shard in several batches at the same time although order matters",
    reportedBy: "synthesis",
    text: "up to 10 batches of one shard at once: order holds within a partition key, but no longer within the shard",
    make: () =>
      warningsOf(
        stackWith(
          (stack, fn) => {
            const settings = { startingPosition, parallelizationFactor: 10, reportBatchItemFailures: true };
            fn.addEventSource(new KinesisEventSource(new Stream(stack, "Orders"), settings));
          },
          { options: { retention: Duration.days(3) } },
        ),
      ),
  },
];

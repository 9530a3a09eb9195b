import { HttpApi } from "aws-cdk-lib/aws-apigatewayv2";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import { Archive, EventBus, Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction as FunctionTarget, SqsQueue } from "aws-cdk-lib/aws-events-targets";
import { LambdaDestination, SqsDestination } from "aws-cdk-lib/aws-lambda-destinations";
import { Bucket, EventType } from "aws-cdk-lib/aws-s3";
import { LambdaDestination as Notified } from "aws-cdk-lib/aws-s3-notifications";
import { CfnSchedule, Schedule as Scheduled, ScheduleExpression } from "aws-cdk-lib/aws-scheduler";
import { LambdaInvoke as ScheduledInvoke } from "aws-cdk-lib/aws-scheduler-targets";
import { Topic } from "aws-cdk-lib/aws-sns";
import { LambdaSubscription, SqsSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import {
  CfnStateMachine,
  DefinitionBody,
  IntegrationPattern,
  JsonPath,
  StateMachine,
  StateMachineType,
  TaskInput,
} from "aws-cdk-lib/aws-stepfunctions";
import { LambdaInvoke } from "aws-cdk-lib/aws-stepfunctions-tasks";
import { aFunction } from "../../given.ts";
import { type Misconfiguration, noted, refused, runner, warned } from "../given.ts";
import { aQueue, days, eventsOf, forDay, hours, parked, roleArn } from "./windows-given.ts";

export const PUSHED: readonly Misconfiguration[] = [
  refused(
    "asynchronous events that may be older than the retention",
    "in the event queue of Test/Fn",
    forDay((_, fn) => fn.configureAsyncInvoke({ maxEventAge: hours(6) }), { retention: hours(1) }),
  ),
  warned(
    "a retention shorter than the 6 hours for which AWS keeps asynchronous events",
    "onceonly:asynchronous-window",
    forDay((_, fn) => fn.configureAsyncInvoke({ retryAttempts: 1 }), { retention: hours(5) }),
  ),
  refused(
    "a dead-letter queue of the function that keeps events for longer",
    "1209600 s in Test/Parked",
    (stack) => runner(stack, { retention: days(1), fn: { deadLetterQueue: parked(stack) } }),
  ),
  refused(
    "an `onFailure` queue that keeps events for longer",
    "1209600 s in Test/Parked",
    forDay((stack, fn) => fn.configureAsyncInvoke({ onFailure: new SqsDestination(parked(stack)) })),
  ),
  warned(
    "a dead-letter queue of a function that only an API invokes",
    "onceonly:no-asynchronous-source",
    (stack) => {
      const fn = runner(stack, { retention: days(1), fn: { deadLetterQueue: parked(stack) } });
      new HttpApi(stack, "Api", { defaultIntegration: new HttpLambdaIntegration("Pay", fn) });
    },
  ),
  warned(
    "an `onFailure` queue of a function that only its URL invokes",
    "onceonly:no-asynchronous-source",
    forDay((stack, fn) => {
      fn.configureAsyncInvoke({ onFailure: new SqsDestination(aQueue(stack)) });
      fn.addFunctionUrl();
    }),
  ),
  refused(
    "a dead-letter queue of a function that an API and a topic invoke",
    "1209600 s in Test/Parked",
    (stack) => {
      const fn = runner(stack, { retention: days(1), fn: { deadLetterQueue: parked(stack) } });
      new HttpApi(stack, "Api", { defaultIntegration: new HttpLambdaIntegration("Pay", fn) });
      new Topic(stack, "Topic").addSubscription(new LambdaSubscription(fn));
    },
  ),
  warned(
    "a destination of another function",
    "onceonly:asynchronous-window",
    forDay(
      (stack, fn) => {
        aFunction(stack, "First").configureAsyncInvoke({ onSuccess: new LambdaDestination(fn) });
      },
      { retention: hours(2) },
    ),
  ),
  warned(
    "a rule without a retry policy",
    "onceonly:eventbridge-window",
    forDay((stack, fn) => {
      new Rule(stack, "Rule", { schedule: Schedule.rate(days(1)), targets: [new FunctionTarget(fn)] });
    }),
  ),
  refused(
    "a rule that retries for longer than the retention",
    "of retries by the rule Test/Rule",
    forDay(
      (stack, fn) => {
        const targets = [new FunctionTarget(fn, { maxEventAge: hours(20) })];
        new Rule(stack, "Rule", { schedule: Schedule.rate(days(1)), targets });
      },
      { retention: hours(10) },
    ),
  ),
  refused(
    "a rule with dead letters that are kept for longer",
    "1209600 s in Test/Parked",
    forDay((stack, fn) => {
      const targets = [new FunctionTarget(fn, { deadLetterQueue: parked(stack) })];
      new Rule(stack, "Rule", { schedule: Schedule.rate(days(1)), targets });
    }),
  ),
  refused(
    "a rule that feeds a queue",
    "of retries by the rule Test/Rule + 345600 s in Test/Queue",
    forDay((stack, fn) => {
      const queue = aQueue(stack);
      new Rule(stack, "Rule", { schedule: Schedule.rate(days(1)), targets: [new SqsQueue(queue)] });
      fn.addEventSource(eventsOf(queue));
    }),
  ),
  warned(
    "an archive of a bus that keeps events for longer",
    "onceonly:archive-window",
    forDay(
      (stack, fn) => {
        const bus = new EventBus(stack, "Bus");
        const eventPattern = { source: ["shop"] };
        new Archive(stack, "Archive", { sourceEventBus: bus, eventPattern, retention: days(90) });
        new Rule(stack, "Rule", { eventBus: bus, eventPattern, targets: [new FunctionTarget(fn)] });
      },
      { retention: days(30) },
    ),
  ),
  noted(
    "an archive of a bus that never expires",
    "onceonly:retention-unknown",
    forDay(
      (stack, fn) => {
        const bus = new EventBus(stack, "Bus");
        const eventPattern = { source: ["shop"] };
        new Archive(stack, "Archive", { sourceEventBus: bus, eventPattern });
        new Rule(stack, "Rule", { eventBus: bus, eventPattern, targets: [new FunctionTarget(fn)] });
      },
      { retention: days(30) },
    ),
  ),
  warned(
    "a topic, and a retention shorter than its 23 days",
    "onceonly:sns-window",
    forDay((stack, fn) => new Topic(stack, "Topic").addSubscription(new LambdaSubscription(fn))),
  ),
  refused(
    "a subscription with dead letters that are kept for longer",
    "1209600 s in Test/Parked",
    forDay((stack, fn) =>
      new Topic(stack, "Topic").addSubscription(
        new LambdaSubscription(fn, { deadLetterQueue: parked(stack) }),
      ),
    ),
  ),
  refused(
    "a topic that feeds a queue",
    "+ 345600 s in Test/Queue",
    forDay((stack, fn) => {
      const queue = aQueue(stack);
      new Topic(stack, "Topic").addSubscription(new SqsSubscription(queue));
      fn.addEventSource(eventsOf(queue));
    }),
  ),
  warned(
    "an archive of a FIFO topic that keeps messages for longer",
    "onceonly:archive-window",
    forDay(
      (stack, fn) => {
        const queue = aQueue(stack, { fifo: true, retentionPeriod: days(1) });
        const topic = new Topic(stack, "Topic", { fifo: true, messageRetentionPeriodInDays: 60 });
        topic.addSubscription(new SqsSubscription(queue));
        fn.addEventSource(eventsOf(queue));
      },
      { retention: days(30) },
    ),
  ),
  warned(
    "a schedule without a retry policy",
    "onceonly:scheduler-window",
    forDay((stack, fn) => {
      new CfnSchedule(stack, "Schedule", {
        flexibleTimeWindow: { mode: "OFF" },
        scheduleExpression: "rate(1 day)",
        target: { arn: fn.functionArn, roleArn },
      });
    }),
  ),
  refused(
    "a schedule that retries for longer than the retention",
    "of retries by the schedule Test/Schedule",
    forDay(
      (stack, fn) => {
        const target = new ScheduledInvoke(fn, { maxEventAge: hours(20) });
        new Scheduled(stack, "Schedule", { schedule: ScheduleExpression.rate(days(1)), target });
      },
      { retention: hours(10) },
    ),
  ),
  noted(
    "a bucket, for which AWS doesn't document how long it retries",
    "onceonly:retention-unknown",
    forDay((stack, fn) =>
      new Bucket(stack, "Bucket").addEventNotification(EventType.OBJECT_CREATED, new Notified(fn)),
    ),
  ),
  warned(
    "a bucket, and a retention shorter than Lambda's 6 hours",
    "onceonly:asynchronous-window",
    forDay(
      (stack, fn) =>
        new Bucket(stack, "Bucket").addEventNotification(EventType.OBJECT_CREATED, new Notified(fn)),
      { retention: hours(5) },
    ),
  ),
  refused(
    "a Step Functions task that retries for longer than the retention",
    "between the retries of Test/Machine",
    forDay((stack, fn) => {
      const task = new LambdaInvoke(stack, "Task", { lambdaFunction: fn, retryOnServiceExceptions: false });
      task.addRetry({ interval: hours(1), maxAttempts: 5, backoffRate: 2 });
      const definitionBody = DefinitionBody.fromChainable(task);
      new StateMachine(stack, "Machine", { definitionBody, stateMachineType: StateMachineType.EXPRESS });
    }),
  ),
  warned(
    "a standard workflow, which can be redriven for 14 days",
    "onceonly:step-functions-window",
    forDay((stack, fn) => {
      const task = new LambdaInvoke(stack, "Task", { lambdaFunction: fn });
      new StateMachine(stack, "Machine", { definitionBody: DefinitionBody.fromChainable(task) });
    }),
  ),
  warned(
    "a task that waits for its token without a timeout",
    "onceonly:step-functions-window",
    forDay(
      (stack, fn) => {
        const task = new LambdaInvoke(stack, "Task", {
          lambdaFunction: fn,
          integrationPattern: IntegrationPattern.WAIT_FOR_TASK_TOKEN,
          payload: TaskInput.fromObject({ token: JsonPath.taskToken }),
        });
        new StateMachine(stack, "Machine", { definitionBody: DefinitionBody.fromChainable(task) });
      },
      { retention: days(60) },
    ),
  ),
  noted(
    "a state machine whose definition is in a file",
    "onceonly:retention-unknown",
    forDay((stack, fn) => {
      new CfnStateMachine(stack, "Machine", {
        roleArn,
        definitionS3Location: { bucket: "b", key: "k" },
        definitionSubstitutions: { fn: fn.functionArn },
      });
    }),
  ),
];

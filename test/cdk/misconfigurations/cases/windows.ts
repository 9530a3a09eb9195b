import { CfnParameter, Duration, Fn, Stack } from "aws-cdk-lib";
import { HttpApi } from "aws-cdk-lib/aws-apigatewayv2";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import { AttributeType, CfnTable, StreamViewType, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { Archive, EventBus, Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction as FunctionTarget, SqsQueue } from "aws-cdk-lib/aws-events-targets";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Stream } from "aws-cdk-lib/aws-kinesis";
import {
  Alias,
  CfnEventSourceMapping,
  type FunctionOptions,
  type Function as LambdaFunction,
  StartingPosition,
} from "aws-cdk-lib/aws-lambda";
import { LambdaDestination, SqsDestination } from "aws-cdk-lib/aws-lambda-destinations";
import {
  DynamoEventSource,
  KinesisEventSource,
  ManagedKafkaEventSource,
  SqsEventSource,
} from "aws-cdk-lib/aws-lambda-event-sources";
import { CfnPipe } from "aws-cdk-lib/aws-pipes";
import { Bucket, EventType } from "aws-cdk-lib/aws-s3";
import { LambdaDestination as Notified } from "aws-cdk-lib/aws-s3-notifications";
import { CfnSchedule, Schedule as Scheduled, ScheduleExpression } from "aws-cdk-lib/aws-scheduler";
import { LambdaInvoke as ScheduledInvoke } from "aws-cdk-lib/aws-scheduler-targets";
import { Topic } from "aws-cdk-lib/aws-sns";
import { LambdaSubscription, SqsSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { Queue, type QueueProps } from "aws-cdk-lib/aws-sqs";
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
import { DedupQueue, type UseIdempotencyOptions } from "onceonly/cdk";
import { aFunction } from "../../given.ts";
import { accepted, type Misconfiguration, noted, refused, runner, warned } from "../given.ts";

const days = (count: number) => Duration.days(count);
const hours = (count: number) => Duration.hours(count);
const LATEST = StartingPosition.LATEST;
const roleArn = "arn:aws:iam::111111111111:role/any";
const PK = { name: "pk", type: AttributeType.STRING };

type Build = (stack: Stack, fn: LambdaFunction) => unknown;

/** A function of one day, as is the default, and its source. */
const forDay =
  (build: Build, options: UseIdempotencyOptions = {}, fn: FunctionOptions = {}) =>
  (stack: Stack) =>
    build(stack, runner(stack, { retention: days(1), fn, ...options }));

const number = (stack: Stack) => new CfnParameter(stack, "Number", { type: "Number" }).valueAsNumber;
const eventsOf = (queue: Queue) => new SqsEventSource(queue, { reportBatchItemFailures: true });
const aQueue = (stack: Stack, props: QueueProps = {}, id = "Queue") => new Queue(stack, id, props);
const consumed =
  (props: QueueProps = {}): Build =>
  (stack, fn) =>
    fn.addEventSource(eventsOf(aQueue(stack, props)));
const parked = (stack: Stack, id = "Parked") => aQueue(stack, { retentionPeriod: days(14) }, id);
const TOO_SHORT = "retention 86400 s <";

export const RETENTIONS: readonly Misconfiguration[] = [
  refused(
    "a client window above the retention",
    TOO_SHORT,
    forDay(() => {}, { clientWindow: days(2) }),
  ),
  refused("a retention of more than 366 days", "which the handler refuses as its retentionSeconds", (stack) =>
    runner(stack, { retention: days(400) }),
  ),
  refused("a long retention of more than ten years", "which no handler takes", (stack) =>
    runner(stack, { retention: days(4000), longRetention: true }),
  ),
  noted("a retention that is known at deployment only", "onceonly:retention-unknown", (stack) =>
    runner(stack, { retention: Duration.seconds(number(stack)) }),
  ),
  noted("a client window that is known at deployment only", "onceonly:retention-unknown", (stack) =>
    runner(stack, { clientWindow: Duration.seconds(number(stack)) }),
  ),
  refused("a queue with the settings of SQS", TOO_SHORT, forDay(consumed())),
  refused(
    "a queue whose receives take longer than the retention",
    "visibility timeout 30 s × 3000 receives",
    (stack) => {
      const retentionPeriod = Duration.minutes(1);
      const queue = aQueue(stack, { retentionPeriod }, "Parked");
      const fn = runner(stack, { retention: days(1) });
      consumed({ retentionPeriod, deadLetterQueue: { queue, maxReceiveCount: 3000 } })(stack, fn);
    },
  ),
  refused("a `DedupQueue`, and the retention's default", TOO_SHORT, (stack) =>
    new DedupQueue(stack, "Queue").addConsumer(runner(stack, { retention: undefined as never })),
  ),
  refused("dead letters that are kept for longer than the retention", "1209600 s in Test/Parked", (stack) =>
    runner(stack, { retention: days(10) }).addEventSource(
      eventsOf(aQueue(stack, { deadLetterQueue: { queue: parked(stack), maxReceiveCount: 3 } })),
    ),
  ),
  refused("dead letters of a dead-letter queue", "1209600 s in Test/Last", (stack) => {
    const last = { queue: parked(stack, "Last"), maxReceiveCount: 3 };
    const queue = aQueue(stack, { deadLetterQueue: last }, "Parked");
    const settings = { deadLetterQueue: { queue, maxReceiveCount: 3 } };
    runner(stack, { retention: days(15) }).addEventSource(eventsOf(aQueue(stack, settings)));
  }),
  refused("a queue behind an alias", TOO_SHORT, (stack) => {
    const { currentVersion: version } = runner(stack, { retention: days(1) });
    new Alias(stack, "Live", { aliasName: "live", version }).addEventSource(eventsOf(aQueue(stack)));
  }),
  refused("a queue behind a version", TOO_SHORT, (stack) =>
    runner(stack, { retention: days(1) }).currentVersion.addEventSource(eventsOf(aQueue(stack))),
  ),
  refused("a queue of another stack", "345600 s in Other/Queue", (stack) => {
    const other = new Stack(stack.node.root, "Other", {
      env: { account: stack.account, region: stack.region },
    });
    runner(stack, { retention: days(1) }).addEventSource(eventsOf(aQueue(other)));
  }),
  refused(
    "a queue behind a plain event source mapping",
    TOO_SHORT,
    forDay((stack, fn) => {
      const { queueArn: eventSourceArn } = aQueue(stack);
      new CfnEventSourceMapping(stack, "Mapping", { eventSourceArn, functionName: fn.functionName });
    }),
  ),
  noted(
    "a queue of another app",
    "onceonly:retention-unknown",
    forDay((stack, fn) => {
      const arn = "arn:aws:sqs:eu-west-1:111111111111:given";
      const source = new SqsEventSource(Queue.fromQueueArn(stack, "Given", arn), {
        reportBatchItemFailures: true,
      });
      fn.addEventSource(source);
    }),
  ),
  noted(
    "dead letters in a queue of another app",
    "onceonly:retention-unknown",
    forDay((stack, fn) => {
      const queue = Queue.fromQueueArn(stack, "Given", "arn:aws:sqs:eu-west-1:111111111111:given");
      consumed({ deadLetterQueue: { queue, maxReceiveCount: 3 } })(stack, fn);
    }),
  ),
  noted(
    "a queue whose retention is known at deployment only",
    "onceonly:retention-unknown",
    forDay((stack, fn) => consumed({ retentionPeriod: Duration.seconds(number(stack)) })(stack, fn)),
  ),
  accepted(
    "an asynchronous caller in code, which no template shows",
    "count its 6 hours into `clientWindow`",
    forDay((stack, fn) => fn.grantInvoke(aFunction(stack, "Caller"))),
  ),
];

export const SOURCES: readonly Misconfiguration[] = [
  refused(
    "asynchronous events that may be older than the retention",
    "in the event queue of Test/Fn",
    forDay((_, fn) => fn.configureAsyncInvoke({ maxEventAge: hours(6) }), { retention: hours(1) }),
  ),
  warned(
    "asynchronous events of AWS's 6 hours above the retention",
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
    "a rule before a queue",
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
    "an archive of a bus without end",
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
    "a topic, and a retention below its 23 days",
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
    "a topic before a queue",
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
    "a bucket, which says no number",
    "onceonly:retention-unknown",
    forDay((stack, fn) =>
      new Bucket(stack, "Bucket").addEventNotification(EventType.OBJECT_CREATED, new Notified(fn)),
    ),
  ),
  warned(
    "a bucket, and a retention below the 6 hours of Lambda",
    "onceonly:asynchronous-window",
    forDay(
      (stack, fn) =>
        new Bucket(stack, "Bucket").addEventNotification(EventType.OBJECT_CREATED, new Notified(fn)),
      { retention: hours(5) },
    ),
  ),
  refused(
    "a task of Step Functions that retries for longer than the retention",
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
  refused(
    "a Kinesis stream that keeps records for longer than the retention",
    "604800 s in the stream Test/Stream",
    forDay((stack, fn) => {
      const stream = new Stream(stack, "Stream", { retentionPeriod: days(7) });
      fn.addEventSource(
        new KinesisEventSource(stream, { startingPosition: LATEST, reportBatchItemFailures: true }),
      );
    }),
  ),
  warned(
    "a Kinesis stream that keeps records for a year",
    "onceonly:stream-window",
    forDay((stack, fn) => {
      const stream = new Stream(stack, "Stream", { retentionPeriod: days(365) });
      fn.addEventSource(
        new KinesisEventSource(stream, { startingPosition: LATEST, reportBatchItemFailures: true }),
      );
    }),
  ),
  refused(
    "a maximum record age above the retention",
    "as the maximum record age of",
    forDay((stack, fn) => {
      const stream = new Stream(stack, "Stream", { retentionPeriod: days(7) });
      fn.addEventSource(
        new KinesisEventSource(stream, {
          startingPosition: LATEST,
          reportBatchItemFailures: true,
          maxRecordAge: days(3),
        }),
      );
    }),
  ),
  noted(
    "a Kinesis stream of another app",
    "onceonly:retention-unknown",
    forDay((stack, fn) => {
      const stream = Stream.fromStreamArn(
        stack,
        "Given",
        "arn:aws:kinesis:eu-west-1:111111111111:stream/given",
      );
      fn.addEventSource(
        new KinesisEventSource(stream, { startingPosition: LATEST, reportBatchItemFailures: true }),
      );
    }),
  ),
  warned(
    "the stream of a table, and a retention below its 24 hours",
    "onceonly:stream-window",
    forDay(
      (stack, fn) => {
        const rows = new TableV2(stack, "Rows", { partitionKey: PK, dynamoStream: StreamViewType.NEW_IMAGE });
        fn.addEventSource(
          new DynamoEventSource(rows, { startingPosition: LATEST, reportBatchItemFailures: true }),
        );
      },
      { retention: hours(12) },
    ),
  ),
  refused(
    "the stream of a table without one",
    "which has 0 streams: switch one on",
    forDay((stack, fn) => {
      const rows = new TableV2(stack, "Rows", { partitionKey: PK });
      fn.addEventSource(new DynamoEventSource(rows, { startingPosition: LATEST }));
    }),
  ),
  refused(
    "the stream of a plain table without one",
    "which has 0 streams: switch one on",
    forDay((stack, fn) => {
      const rows = new CfnTable(stack, "Rows", { keySchema: [{ attributeName: "id", keyType: "HASH" }] });
      new CfnEventSourceMapping(stack, "Mapping", {
        eventSourceArn: rows.attrStreamArn,
        functionName: fn.functionName,
        startingPosition: "LATEST",
        functionResponseTypes: ["ReportBatchItemFailures"],
      });
    }),
  ),
  noted(
    "a topic of Kafka",
    "onceonly:retention-unknown",
    forDay((_, fn) => {
      const clusterArn = "arn:aws:kafka:eu-west-1:111111111111:cluster/given/1";
      fn.addEventSource(
        new ManagedKafkaEventSource({
          clusterArn,
          topic: "orders",
          startingPosition: LATEST,
          reportBatchItemFailures: true,
          provisionedPollerConfig: { minimumPollers: 1 },
        }),
      );
    }),
  ),
  noted(
    "a queue of Amazon MQ",
    "onceonly:retention-unknown",
    forDay((stack, fn) => {
      new CfnEventSourceMapping(stack, "Mapping", {
        eventSourceArn: "arn:aws:mq:eu-west-1:111111111111:broker:given:1",
        functionName: fn.functionName,
        queues: ["orders"],
      });
    }),
  ),
  refused(
    "a pipe from a queue that keeps messages for longer",
    "345600 s in Test/Queue",
    forDay((stack, fn) => {
      const { queueArn: source } = aQueue(stack);
      new CfnPipe(stack, "Pipe", { roleArn, source, target: fn.functionArn });
    }),
  ),
  noted(
    "a rule of another app",
    "onceonly:retention-unknown",
    forDay((_, fn) => fn.addPermission("Rule", { principal: new ServicePrincipal("events.amazonaws.com") })),
  ),
  noted(
    "a rule of AWS IoT",
    "onceonly:retention-unknown",
    forDay((_, fn) => fn.addPermission("Iot", { principal: new ServicePrincipal("iot.amazonaws.com") })),
  ),
  noted(
    "a subscription to CloudWatch Logs",
    "onceonly:retention-unknown",
    forDay((_, fn) => fn.addPermission("Logs", { principal: new ServicePrincipal("logs.amazonaws.com") })),
  ),
  noted(
    "a queue that is known by a token only",
    "onceonly:retention-unknown",
    forDay((stack, fn) => {
      const queue = Queue.fromQueueArn(stack, "Given", Fn.importValue("queue"));
      fn.addEventSource(new SqsEventSource(queue, { reportBatchItemFailures: true }));
    }),
  ),
];

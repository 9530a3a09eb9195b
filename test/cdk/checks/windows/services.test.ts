// The windows of SNS, EventBridge Scheduler, S3 and Step Functions.
import { CfnParameter, Duration, Stack } from "aws-cdk-lib";
import type { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { S3EventSource, SnsEventSource, SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { Bucket, CfnBucket, EventType } from "aws-cdk-lib/aws-s3";
import { LambdaDestination } from "aws-cdk-lib/aws-s3-notifications";
import { CfnSchedule, Schedule, ScheduleExpression } from "aws-cdk-lib/aws-scheduler";
import { LambdaInvoke as ScheduledInvoke } from "aws-cdk-lib/aws-scheduler-targets";
import { CfnTopic, Topic } from "aws-cdk-lib/aws-sns";
import { LambdaSubscription, SqsSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { Queue } from "aws-cdk-lib/aws-sqs";
import {
  CfnStateMachine,
  Chain,
  DefinitionBody,
  IntegrationPattern,
  JsonPath,
  Parallel,
  StateMachine,
  StateMachineType,
  TaskInput,
} from "aws-cdk-lib/aws-stepfunctions";
import { LambdaInvoke, type LambdaInvokeProps } from "aws-cdk-lib/aws-stepfunctions-tasks";
import { describe, expect, it } from "vitest";
import { type Build, synthesized } from "./given.ts";

const DAY = 86_400;
const HOUR = 3600;
const seconds = (count: number) => Duration.seconds(count);
const silence = { faults: "", warnings: [], notes: [] };
const arn = "arn:aws:iam::111111111111:role/any";

describe("a topic of SNS that feeds a function", () => {
  const build: Build = (stack, fn) => fn.addEventSource(new SnsEventSource(new Topic(stack, "Topic")));
  const LONGEST = 23 * DAY + 6 * HOUR + 120;

  it("is covered by a retention of its 23 days and the hours of Lambda", () => {
    expect(synthesized(seconds(LONGEST), build)).toEqual(silence);
  });

  it("warns with the inequality and the retention that covers it", () => {
    const { faults, warnings } = synthesized(seconds(LONGEST - 1), build);

    expect(faults).toBe("");
    expect(warnings).toEqual([
      "retention 2008919 s < 2008920 s, the longest redelivery to Test/Fn (1987200 s (23 days) of retries by SNS for Test/Topic + 21600 s in the event queue of Test/Fn + client window 120 s): a delivery after the retention would run again. Part of that is an AWS maximum. A retention of Duration.days(24) covers it, here and as the handler's retentionSeconds [ack: onceonly:sns-window]",
    ]);
  });

  it("is rejected if its subscription's dead letters are kept longer", () => {
    const { faults } = synthesized(Duration.days(10), (stack, fn) => {
      const deadLetterQueue = new Queue(stack, "Dead", { retentionPeriod: Duration.days(14) });
      new Topic(stack, "Topic").addSubscription(new LambdaSubscription(fn, { deadLetterQueue }));
    });

    expect(faults).toContain("+ 1209600 s in Test/Dead + 21600 s in the event queue");
  });

  it("is seen before a queue, and as a plain resource", () => {
    const queued: Build = (stack, fn) => {
      const queue = new Queue(stack, "Queue", { retentionPeriod: Duration.days(1) });
      new Topic(stack, "Topic").addSubscription(new SqsSubscription(queue));
      fn.addEventSource(new SqsEventSource(queue));
    };
    const plain: Build = (stack, fn) => {
      new CfnTopic(stack, "Topic", { subscription: [{ protocol: "lambda", endpoint: fn.functionArn }] });
    };

    expect(synthesized(seconds(24 * DAY + 120), queued)).toEqual(silence);
    expect(synthesized(seconds(24 * DAY + 119), queued).warnings[0]).toContain(
      "for Test/Topic + 86400 s in Test/Queue + client window",
    );
    expect(synthesized(Duration.days(20), plain).warnings).toHaveLength(1);
  });

  it("may replay its archive", () => {
    const { warnings } = synthesized(Duration.days(30), (stack, fn) => {
      const topic = new Topic(stack, "Topic", { fifo: true, messageRetentionPeriodInDays: 60 });
      const queue = new Queue(stack, "Queue", { fifo: true, retentionPeriod: Duration.days(1) });
      topic.addSubscription(new SqsSubscription(queue));
      fn.addEventSource(new SqsEventSource(queue));
    });

    expect(warnings[0]).toMatch(/\(5184000 s in the archive of Test\/Topic .*onceonly:archive-window/);
  });
});

describe("a schedule of EventBridge Scheduler that feeds a function", () => {
  const scheduled =
    (maxEventAge: Duration): Build =>
    (stack, fn) => {
      fn.configureAsyncInvoke({ maxEventAge: Duration.hours(1) });
      const target = new ScheduledInvoke(fn, { maxEventAge });
      new Schedule(stack, "Schedule", { schedule: ScheduleExpression.rate(Duration.days(1)), target });
    };

  it("is covered by a retention of its maximum age and that of Lambda", () => {
    expect(synthesized(seconds(3 * HOUR + 120), scheduled(Duration.hours(2)))).toEqual(silence);
  });

  it("is refused with a shorter one, with the inequality", () => {
    expect(synthesized(seconds(3 * HOUR + 119), scheduled(Duration.hours(2))).faults).toContain(
      "retention 10919 s < 10920 s, the longest redelivery to Test/Fn (7200 s of retries by the schedule Test/Schedule + 3600 s in the event queue of Test/Fn + client window 120 s)",
    );
  });

  it("warns of the 24 hours of AWS, also after an AWS action", () => {
    const flexibleTimeWindow = { mode: "OFF" };
    const scheduleExpression = "rate(1 day)";
    const of =
      (target: (fn: LambdaFunction) => { arn: string; input?: string }): Build =>
      (stack, fn) => {
        const settings = { ...target(fn), roleArn: arn };
        new CfnSchedule(stack, "Plain", { flexibleTimeWindow, scheduleExpression, target: settings });
      };

    expect(
      synthesized(
        Duration.days(1),
        of((fn) => ({ arn: fn.functionArn })),
      ).warnings[0],
    ).toMatch(/\(86400 s of retries by the schedule Test\/Plain \+ 21600 s .*onceonly:scheduler-window/);
    const action = "arn:aws:scheduler:::aws-sdk:lambda:invoke";
    const invoke = (type: string) =>
      of((fn) => ({
        arn: action,
        input: `{"FunctionName":"${fn.functionArn}","InvocationType":"${type}"}`,
      }));
    expect(synthesized(Duration.days(1), invoke("Event")).warnings[0]).toContain("86400 s < 108120 s");
    expect(synthesized(Duration.days(1), invoke("RequestResponse")).warnings[0]).toContain(
      "86400 s < 86520 s",
    );
  });
});

describe("a bucket that notifies a function", () => {
  const build: Build = (stack, fn) => {
    new Bucket(stack, "Bucket").addEventNotification(EventType.OBJECT_CREATED, new LambdaDestination(fn));
  };

  it("counts Lambda's hours, and notes that S3 documents no number", () => {
    const { faults, warnings, notes } = synthesized(seconds(6 * HOUR + 120), build);

    expect([faults, warnings]).toEqual(["", []]);
    expect(notes).toEqual([
      "can't check whether the retention of Test/Fn is long enough: S3 doesn't say how long it retries the notifications of Test/Bucket [ack: onceonly:retention-unknown]",
    ]);
  });

  it("warns of a retention below the hours of Lambda, with the inequality", () => {
    expect(synthesized(seconds(6 * HOUR + 119), build).warnings[0]).toContain("21719 s < 21720 s");
  });

  it("is seen as a plain resource and as an event source", () => {
    const plain: Build = (stack, fn) => {
      const lambdaConfigurations = [{ event: "s3:ObjectCreated:*", function: fn.functionArn }];
      new CfnBucket(stack, "Plain", { notificationConfiguration: { lambdaConfigurations } });
    };
    const source: Build = (stack, fn) => {
      const events = [EventType.OBJECT_CREATED];
      fn.addEventSource(new S3EventSource(new Bucket(stack, "Bucket"), { events }));
    };

    expect(synthesized(Duration.hours(5), plain).notes.join()).toContain("notifications of Test/Plain");
    expect(synthesized(Duration.hours(5), source).warnings).toHaveLength(1);
  });
});

describe("a state machine that invokes a function", () => {
  const machineWith =
    (props: Partial<LambdaInvokeProps>, type = StateMachineType.EXPRESS, retry = true): Build =>
    (stack, fn) => {
      const task = new LambdaInvoke(stack, "Task", {
        lambdaFunction: fn,
        retryOnServiceExceptions: false,
        ...props,
      } as LambdaInvokeProps);
      if (retry) {
        task.addRetry({ errors: ["Lambda"], interval: seconds(1000), maxAttempts: 3, backoffRate: 2 });
      }
      new StateMachine(stack, "Machine", {
        definitionBody: DefinitionBody.fromChainable(new Parallel(stack, "Both").branch(Chain.start(task))),
        stateMachineType: type,
      });
    };
  // 1000 + 2000 + 4000, and 3 s for each of three tries.
  const LONGEST = 7000 + 9 + 120;

  it("is covered by a retention of its pauses and tries", () => {
    expect(synthesized(seconds(LONGEST), machineWith({}))).toEqual(silence);
  });

  it("is refused with a shorter one, with the inequality", () => {
    expect(synthesized(seconds(LONGEST - 1), machineWith({})).faults).toContain(
      "retention 7128 s < 7129 s, the longest redelivery to Test/Fn (7000 s between the retries of Test/Machine + timeout 3 s × 3 retries + client window 120 s)",
    );
  });

  it("can be redriven for 14 days, unless it is an express workflow: a warning", () => {
    expect(synthesized(Duration.days(1), machineWith({}, StateMachineType.STANDARD)).warnings[0]).toMatch(
      /86400 s < 1216729 s.*\+ 1209600 s for redrives of Test\/Machine \+ client.*Duration.days\(15\).*onceonly:step-functions-window/,
    );
    expect(synthesized(Duration.days(15), machineWith({}, StateMachineType.STANDARD))).toEqual(silence);
  });

  it("can wait for a token for a year, unless its task has a timeout", () => {
    const waiting = {
      integrationPattern: IntegrationPattern.WAIT_FOR_TASK_TOKEN,
      payload: TaskInput.fromObject({ token: JsonPath.taskToken }),
    };
    const timeoutless = machineWith(waiting, StateMachineType.STANDARD);

    expect(synthesized(Duration.days(300), timeoutless).warnings[0]).toMatch(
      /timeout 31536000 s × 3 retries.*with allowLongRetention/,
    );
  });

  it("counts the retries that CDK adds, and no retries if there are none", () => {
    expect(
      synthesized(seconds(200), machineWith({ retryOnServiceExceptions: true }, undefined, false)).faults,
    ).toContain("126 s between the retries of Test/Machine + timeout 3 s × 6 retries");
    expect(synthesized(seconds(200), machineWith({}, undefined, false))).toEqual(silence);
  });

  it("notes a definition in a file, and a number that is only known at deployment", () => {
    const inFile: Build = (stack, fn) => {
      new CfnStateMachine(stack, "Machine", {
        roleArn: arn,
        definitionS3Location: { bucket: "b", key: "k" },
        definitionSubstitutions: { fn: fn.functionArn },
      });
    };
    const late: Build = (stack, fn) => {
      const MaxAttempts = new CfnParameter(stack, "Tries", { type: "Number" }).valueAsNumber;
      const States = { Only: { Type: "Task", Resource: fn.functionArn, Retry: [{ MaxAttempts }] } };
      new CfnStateMachine(stack, "Machine", { roleArn: arn, definition: { StartAt: "Only", States } });
    };

    expect(synthesized(Duration.days(1), inFile).notes.join()).toContain(
      "the definition of Test/Machine can't be read",
    );
    expect(synthesized(Duration.days(1), late).notes.join()).toContain("a number of a task in Test/Machine");
  });

  it("is detected in another stack, with its trigger", () => {
    const { warnings } = synthesized(Duration.days(1), (stack, fn) => {
      const other = new Stack(stack.node.root, "Other");
      machineWith({}, StateMachineType.EXPRESS, false)(other, fn);
      const machine = other.node.findChild("Machine") as StateMachine;
      new CfnSchedule(other, "Schedule", {
        flexibleTimeWindow: { mode: "OFF" },
        scheduleExpression: "rate(1 day)",
        target: { arn: machine.stateMachineArn, roleArn: arn },
      });
    });

    expect(warnings[0]).toContain(
      "(86400 s of retries by the schedule Other/Schedule + client window 120 s)",
    );
  });
});

import { CfnParameter, Duration, Stack } from "aws-cdk-lib";
import { CfnRule, EventBus, Rule, Schedule } from "aws-cdk-lib/aws-events";
import {
  EventBus as BusTarget,
  LambdaFunction,
  type LambdaFunctionProps,
  SqsQueue,
} from "aws-cdk-lib/aws-events-targets";
import { CfnEventBus as CfnEventBusV2, CfnSubscriber } from "aws-cdk-lib/aws-eventsv2";
import { Alias, Function as AnyFunction, type IFunction } from "aws-cdk-lib/aws-lambda";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { describe, expect, it } from "vitest";
import { type Build, synthesized } from "./given.ts";

const seconds = (count: number) => Duration.seconds(count);
const HOUR = 3600;

const ruleTo =
  (
    props: LambdaFunctionProps,
    through: (stack: Stack, fn: AnyFunction) => IFunction = (_, fn) => fn,
  ): Build =>
  (stack, fn) => {
    new Rule(stack, "Rule", {
      eventPattern: { source: ["shop"] },
      targets: [new LambdaFunction(through(stack, fn as AnyFunction), props)],
    });
  };

describe("a rule of EventBridge that feeds a function", () => {
  // 24 h of the rule, 6 h of Lambda, 2 minutes of the client.
  const LONGEST = 30 * HOUR + 120;

  it("is covered by a retention of its 24 hours, those of Lambda, and the client's", () => {
    expect(synthesized(seconds(LONGEST), ruleTo({}))).toEqual({ faults: "", warnings: [], notes: [] });
  });

  it("warns with the inequality and the retention that covers it, since both are maxima of AWS", () => {
    const { faults, warnings } = synthesized(seconds(LONGEST - 1), ruleTo({}));

    expect(faults).toBe("");
    expect(warnings).toEqual([
      "retention 108119 s < 108120 s, the longest redelivery to Test/Fn (86400 s of retries by the rule Test/Rule + 21600 s in the event queue of Test/Fn + client window 120 s): a delivery after the retention would run again. Part of that is an AWS maximum. A retention of Duration.days(2) covers it, here and as the handler's retentionSeconds [ack: onceonly:eventbridge-window]",
    ]);
  });

  it("is refused where the template's own numbers are too long", () => {
    const build: Build = (stack, fn) => {
      ruleTo({ maxEventAge: Duration.hours(20) })(stack, fn);
      (fn as AnyFunction).configureAsyncInvoke({ maxEventAge: Duration.hours(5) });
    };

    expect(synthesized(seconds(25 * HOUR + 120), build).faults).toBe("");
    expect(synthesized(seconds(25 * HOUR + 119), build).faults).toContain(
      "retention 90119 s < 90120 s, the longest redelivery to Test/Fn (72000 s of retries by the rule Test/Rule + 18000 s in the event queue of Test/Fn + client window 120 s)",
    );
  });

  it("counts in for how long its dead letters are kept", () => {
    const build: Build = (stack, fn) => {
      const deadLetterQueue = new Queue(stack, "Dead", { retentionPeriod: Duration.days(14) });
      ruleTo({ deadLetterQueue })(stack, fn);
    };

    expect(synthesized(Duration.days(14), build).faults).toContain("+ 1209600 s in Test/Dead");
    expect(synthesized(Duration.days(16), build)).toEqual({ faults: "", warnings: [], notes: [] });
  });

  it("waits for nothing without retries", () => {
    expect(synthesized(Duration.hours(7), ruleTo({ retryAttempts: 0 })).warnings).toEqual([]);
    expect(synthesized(Duration.hours(5), ruleTo({ retryAttempts: 0 })).warnings[0]).toContain(
      "18000 s < 21720 s, the longest redelivery to Test/Fn (21600 s in the event queue of Test/Fn",
    );
  });

  it("F9, B11: is counted for a subscriber of a custom event bus, with the time that the bus keeps events", () => {
    const subscriber =
      (retryPolicy?: CfnSubscriber.RetryPolicyProperty, retentionPeriodInDays?: number): Build =>
      (stack, fn) => {
        const bus = new CfnEventBusV2(stack, "Bus", {
          name: "orders",
          ...(retentionPeriodInDays && { storageConfiguration: { retentionPeriodInDays } }),
        });
        new CfnSubscriber(stack, "Subscriber", {
          eventBusArn: bus.attrEventBusArn,
          name: "ship",
          startingPosition: "LATEST",
          invokeConfiguration: {
            targetArn: fn.functionArn,
            roleArn: "arn:aws:iam::111111111111:role/invoke",
          },
          ...(retryPolicy && { retryPolicy }),
        });
      };
    const ofBus = "86400 s in the archive Test/Bus + ";
    const queued = "21600 s in the event queue of Test/Fn + client window 120 s";

    expect(synthesized(Duration.days(1), subscriber(undefined, 1)).warnings[0]).toContain(
      `(${ofBus}300 s of retries by the subscriber Test/Subscriber + ${queued})`,
    );
    expect(synthesized(Duration.days(1), subscriber({ maxEventAgeInSeconds: 86_400 }, 1)).faults).toContain(
      `(${ofBus}86400 s of retries by the subscriber Test/Subscriber + ${queued})`,
    );
    expect(synthesized(Duration.days(1), subscriber({ maxRetryAttempts: 0 }, 1)).warnings[0]).toContain(
      `(${ofBus}${queued})`,
    );
    expect(synthesized(Duration.days(60), subscriber()).warnings[0]).toContain(
      "31536000 s in the archive Test/Bus",
    );
    expect(synthesized(Duration.days(2), subscriber(undefined, 1))).toEqual({
      faults: "",
      warnings: [],
      notes: [],
    });
  });

  it("F9: has no event queue before it for a subscriber that waits for the response, at most 30 s", () => {
    const waiting =
      (invocationTimeoutSeconds?: string): Build =>
      (stack, fn) => {
        new CfnSubscriber(stack, "Subscriber", {
          eventBusArn: "arn:aws:events:eu-west-1:111111111111:event-busv2/orders/abcdefghijklmnopqrstuvwxy",
          name: "ship",
          startingPosition: "LATEST",
          invokeConfiguration: {
            targetArn: fn.functionArn,
            roleArn: "arn:aws:iam::111111111111:role/invoke",
            lambdaParameters: { invocationType: "REQUEST_RESPONSE", invocationTimeoutSeconds },
          },
        });
      };
    const slow = { timeout: seconds(31) };

    expect(synthesized(seconds(420), waiting())).toEqual({ faults: "", warnings: [], notes: [] });
    expect(synthesized(seconds(419), waiting()).faults).toContain(
      "419 s < 420 s, the longest redelivery to Test/Fn (300 s of retries by the subscriber Test/Subscriber + client",
    );
    expect(synthesized(seconds(420), waiting(), slow).faults).toContain(
      "timeout 31 s of Test/Fn > 30 s, how long its subscriber waits",
    );
    expect(synthesized(seconds(420), waiting("2")).faults).toContain("> 2 s, how long its subscriber waits");
  });

  it("is seen behind an alias, a version and an import of the function", () => {
    const ways: ((stack: Stack, fn: AnyFunction) => IFunction)[] = [
      (stack, fn) => new Alias(stack, "Live", { aliasName: "live", version: fn.currentVersion }),
      (_, fn) => fn.currentVersion,
      (stack, fn) =>
        AnyFunction.fromFunctionAttributes(stack, "Imported", {
          functionArn: fn.functionArn,
          sameEnvironment: true,
        }),
    ];

    for (const way of ways) {
      expect(synthesized(Duration.days(1), ruleTo({}, way)).warnings[0]).toContain("86400 s < 108120 s");
    }
  });

  it("is seen in another stack, and beside another rule", () => {
    const { warnings } = synthesized(Duration.days(1), (stack, fn) => {
      const other = new Stack(stack.node.root, "Other");
      for (const id of ["First", "Second"]) {
        const schedule = Schedule.rate(Duration.hours(1));
        new Rule(other, id, { schedule, targets: [new LambdaFunction(fn as AnyFunction)] });
      }
    });

    expect(warnings.join("\n")).toMatch(/the rule Other\/First .*\n.*the rule Other\/Second /);
  });

  it("is read as the template has it: overrides and plain resources too", () => {
    const { faults } = synthesized(Duration.hours(12), (stack, fn) => {
      const rule = new CfnRule(stack, "Rule", { targets: [{ id: "fn", arn: fn.functionArn }] });
      rule.addPropertyOverride("Targets.0.RetryPolicy.MaximumEventAgeInSeconds", 50_000);
    });

    expect(faults).toContain("43200 s < 71720 s, the longest redelivery to Test/Fn (50000 s of retries");
  });

  it("notes a number that is only known at deployment", () => {
    const { faults, notes } = synthesized(Duration.days(1), (stack, fn) => {
      const age = new CfnParameter(stack, "Age", { type: "Number" }).valueAsNumber;
      ruleTo({ maxEventAge: seconds(age) })(stack, fn);
    });

    expect(faults).toBe("");
    expect(notes.join()).toContain(
      "can't check whether the retention of Test/Fn is long enough: a number of Test/Rule is only known at deployment",
    );
  });
});

describe("what is before a source", () => {
  it("comes to its retention: a rule before a queue", () => {
    const build: Build = (stack, fn) => {
      const queue = new Queue(stack, "Queue", { retentionPeriod: Duration.days(2) });
      new Rule(stack, "Rule", { eventPattern: { source: ["shop"] }, targets: [new SqsQueue(queue)] });
      (fn as AnyFunction).addEventSource(new SqsEventSource(queue));
    };

    expect(synthesized(seconds(72 * HOUR + 120), build)).toEqual({ faults: "", warnings: [], notes: [] });
    expect(synthesized(seconds(72 * HOUR + 119), build).warnings[0]).toContain(
      "(86400 s of retries by the rule Test/Rule + 172800 s in Test/Queue + client window 120 s)",
    );
  });

  it("comes to its retention: a bus before a bus, in a ring", () => {
    const { warnings } = synthesized(Duration.hours(40), (stack, fn) => {
      const [first, second] = [new EventBus(stack, "First"), new EventBus(stack, "Second")];
      const eventPattern = { source: ["shop"] };
      for (const [from, to] of [
        [first, second],
        [second, first],
      ] as const) {
        new Rule(stack, `${from.node.id}Rule`, {
          eventBus: from,
          eventPattern,
          targets: [new BusTarget(to)],
        });
      }
      const targets = [new LambdaFunction(fn as AnyFunction)];
      new Rule(stack, "Rule", { eventBus: second, eventPattern, targets });
    });

    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(
      "(86400 s of retries by the rule Test/SecondRule + 86400 s of retries by the rule Test/FirstRule + 86400 s of retries by the rule Test/Rule + 21600 s",
    );
  });

  it.each([
    ["default bus", false],
    ["bus of its own", true],
  ])("an archive of the %s may be replayed", (_, isOwn) => {
    const build =
      (days: number): Build =>
      (stack, fn) => {
        const bus = isOwn ? new EventBus(stack, "Bus") : EventBus.fromEventBusName(stack, "Bus", "default");
        const eventPattern = { source: ["shop"] };
        bus.archive("Archive", { eventPattern, retention: Duration.days(days) });
        const targets = [new LambdaFunction(fn as AnyFunction)];
        new Rule(stack, "Rule", { ...(isOwn && { eventBus: bus }), eventPattern, targets });
      };

    expect(synthesized(Duration.days(32), build(30))).toEqual({ faults: "", warnings: [], notes: [] });
    expect(synthesized(Duration.days(30), build(30)).warnings[0]).toMatch(
      /2592000 s < 2700120 s.*\(2592000 s in the archive Test\/.*Archive.*onceonly:archive-window/,
    );
    expect(synthesized(Duration.days(30), build(0)).notes.join()).toContain("keeps events forever");
  });
});

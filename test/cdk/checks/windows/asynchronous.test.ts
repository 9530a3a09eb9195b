import { Duration } from "aws-cdk-lib";
import { LambdaRestApi } from "aws-cdk-lib/aws-apigateway";
import { HttpApi } from "aws-cdk-lib/aws-apigatewayv2";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import { UserPool, UserPoolOperation } from "aws-cdk-lib/aws-cognito";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { LambdaDestination, SqsDestination } from "aws-cdk-lib/aws-lambda-destinations";
import { SnsEventSource, SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { Topic } from "aws-cdk-lib/aws-sns";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { describe, expect, it } from "vitest";
import { aFunction } from "../../given.ts";
import { type Build, synthesized } from "./given.ts";

const seconds = (count: number) => Duration.seconds(count);
const HOUR = 3600;

describe("asynchronous invocations of a function", () => {
  const build: Build = (_, fn) => fn.configureAsyncInvoke({ maxEventAge: Duration.hours(2) });

  it("are covered by a retention of their maximum age", () => {
    expect(synthesized(seconds(2 * HOUR + 120), build)).toEqual({ faults: "", warnings: [], notes: [] });
  });

  it("are refused with a shorter one, with the inequality and its numbers", () => {
    expect(synthesized(seconds(2 * HOUR + 119), build).faults).toContain(
      "retention 7319 s < 7320 s, the longest redelivery to Test/Fn (7200 s in the event queue of Test/Fn + client window 120 s)",
    );
  });

  it("come for six hours if retries are set and no age", () => {
    const build: Build = (_, fn) => fn.configureAsyncInvoke({ retryAttempts: 0 });

    expect(synthesized(seconds(6 * HOUR + 120), build).warnings).toEqual([]);
    expect(synthesized(seconds(6 * HOUR + 119), build).warnings[0]).toMatch(
      /21719 s < 21720 s.*onceonly:asynchronous-window/,
    );
  });

  it("F2: come for six hours to a custom sender of a user pool, which nothing waits for", () => {
    const sender: Build = (stack, fn) => {
      const users = new UserPool(stack, "Users", { customSenderKmsKey: new Key(stack, "Key") });
      users.addTrigger(UserPoolOperation.CUSTOM_EMAIL_SENDER, fn);
    };
    const slow = { timeout: seconds(30) };

    expect(synthesized(seconds(6 * HOUR + 120), sender, slow).faults).toBe("");
    expect(synthesized(seconds(6 * HOUR + 119), sender, slow).warnings[0]).toMatch(
      /21719 s < 21720 s.*onceonly:asynchronous-window/,
    );
  });

  it("come again from their dead letters, and from a queue as their destination", () => {
    const kept = { retentionPeriod: Duration.days(10) };
    const destination: Build = (stack, fn) =>
      fn.configureAsyncInvoke({ onFailure: new SqsDestination(new Queue(stack, "Failed", kept)) });

    expect(synthesized(Duration.days(10), destination).faults).toContain(
      "(21600 s in the event queue of Test/Fn + 864000 s in Test/Failed + client window 120 s)",
    );
    expect(synthesized(Duration.days(10), () => {}, { deadLetterQueueEnabled: true }).faults).toContain(
      "+ 1209600 s in Test/Fn/DeadLetterQueue + client window",
    );
    expect(synthesized(Duration.days(11), destination)).toEqual({ faults: "", warnings: [], notes: [] });
  });

  it("of another function's destination count its own time in", () => {
    const { warnings } = synthesized(Duration.hours(10), (stack, fn) => {
      aFunction(stack, "First").configureAsyncInvoke({ onSuccess: new LambdaDestination(fn) });
    });

    expect(warnings[0]).toContain(
      "(21600 s in the event queue of Test/First + 21600 s in the event queue of Test/Fn + client window 120 s)",
    );
  });

  it("from a source of another app are noted, and not noted twice", () => {
    const principal = new ServicePrincipal("sns.amazonaws.com");
    const foreign: Build = (_, fn) => fn.addPermission("Foreign", { principal });
    const known: Build = (stack, fn) => fn.addEventSource(new SnsEventSource(new Topic(stack, "Topic")));

    expect(synthesized(Duration.days(1), foreign).notes.join()).toContain(
      "is long enough: sns.amazonaws.com may invoke it, and its source isn't defined in this app",
    );
    expect(synthesized(Duration.days(30), known)).toEqual({ faults: "", warnings: [], notes: [] });
  });

  const kept = { retentionPeriod: Duration.days(10) };
  const parking: Build = (stack, fn) =>
    fn.configureAsyncInvoke({ onFailure: new SqsDestination(new Queue(stack, "Failed", kept)) });

  it.each<[string, Build]>([
    [
      "an HTTP API",
      (stack, fn) => new HttpApi(stack, "Api", { defaultIntegration: new HttpLambdaIntegration("Pay", fn) }),
    ],
    ["a REST API", (stack, fn) => new LambdaRestApi(stack, "Api", { handler: fn })],
    ["a function URL", (_, fn) => fn.addFunctionUrl()],
    [
      "an API of another app",
      (_, fn) => fn.addPermission("Api", { principal: new ServicePrincipal("apigateway.amazonaws.com") }),
    ],
    [
      "a queue",
      (stack, fn) =>
        fn.addEventSource(
          new SqsEventSource(
            new Queue(stack, "Queue", {
              retentionPeriod: seconds(60),
              visibilityTimeout: seconds(18),
              deadLetterQueue: {
                queue: new Queue(stack, "Dead", { retentionPeriod: seconds(60) }),
                maxReceiveCount: 3,
              },
            }),
            { reportBatchItemFailures: true },
          ),
        ),
    ],
    [
      "a user pool",
      (stack, fn) => new UserPool(stack, "Users").addTrigger(UserPoolOperation.PRE_SIGN_UP, fn),
    ],
  ])("B6: are a warning that can be acknowledged when only %s invokes the function", (_, build) => {
    const both: Build = (stack, fn) => {
      parking(stack, fn);
      build(stack, fn);
    };
    const { faults, warnings } = synthesized(Duration.days(1), both);

    expect(faults).toBe("");
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(
      /864000 s in Test\/Failed \+ client window 120 s\).*Nothing in this app invokes Test\/Fn asynchronously.*\[ack: onceonly:no-asynchronous-source\]/,
    );
    expect(synthesized(Duration.days(11), both)).toEqual({ faults: "", warnings: [], notes: [] });
  });

  it.each<[string, Build]>([
    ["a topic", (stack, fn) => fn.addEventSource(new SnsEventSource(new Topic(stack, "Topic")))],
    [
      "a topic of another app",
      (_, fn) => fn.addPermission("Sns", { principal: new ServicePrincipal("sns.amazonaws.com") }),
    ],
    ["nothing else", () => {}],
  ])("B6: are refused when %s invokes it as well", (name, build) => {
    const { faults } = synthesized(Duration.days(1), (stack, fn) => {
      parking(stack, fn);
      if (name !== "nothing else") fn.addFunctionUrl();
      build(stack, fn);
    });

    expect(faults).toContain("864000 s in Test/Failed + client window 120 s");
  });

  it("are not presumed if nothing shows that there are any", () => {
    expect(synthesized(Duration.hours(1), () => {})).toEqual({ faults: "", warnings: [], notes: [] });
  });
});

import { Duration } from "aws-cdk-lib";
import { UserPool, UserPoolOperation } from "aws-cdk-lib/aws-cognito";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { LambdaDestination, SqsDestination } from "aws-cdk-lib/aws-lambda-destinations";
import { SnsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
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

  it("come for six hours where retries are set and no age", () => {
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
      "is not checked: sns.amazonaws.com may invoke it, and its source is not made in this app",
    );
    expect(synthesized(Duration.days(30), known)).toEqual({ faults: "", warnings: [], notes: [] });
  });

  it("are not presumed where nothing says that there are any", () => {
    expect(synthesized(Duration.hours(1), () => {})).toEqual({ faults: "", warnings: [], notes: [] });
  });
});

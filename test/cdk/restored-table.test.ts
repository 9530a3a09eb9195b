import { CfnParameter, Duration } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Rule } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Stream } from "aws-cdk-lib/aws-kinesis";
import { StartingPosition } from "aws-cdk-lib/aws-lambda";
import { KinesisEventSource, S3EventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { Bucket, EventType } from "aws-cdk-lib/aws-s3";
import {
  DedupQueue,
  IdempotencyTable,
  OutboxRelay,
  UseIdempotency,
  type UseIdempotencyOptions,
} from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { rightsOf } from "../kit/rights.ts";
import { unitStack } from "./app-given.ts";
import { aFunction, faultsOf } from "./given.ts";

const restoredAt = new Date("2026-01-01T12:00:00Z");

function conditionWith(options: UseIdempotencyOptions, isConsumer = false, isTarget = false) {
  const stack = unitStack();
  const fn = aFunction(stack);
  fn.with(new UseIdempotency(new IdempotencyTable(stack, "Table", { restoredAt }), options));
  if (isConsumer) new DedupQueue(stack, "Queue").addConsumer(fn);
  if (isTarget) {
    new Rule(stack, "Rule", { eventPattern: { source: ["shop"] }, targets: [new LambdaFunction(fn)] });
  }
  const [right] = rightsOf(Template.fromStack(stack), "FnServiceRole");
  return right?.condition;
}

const notBefore = (time: string) => ({ DateGreaterThanEquals: { "aws:CurrentTime": time } });

describe("UseIdempotency on a restored table", () => {
  it("H56: makes IAM refuse everything until no caller repeats what the backup forgot", () => {
    expect(conditionWith({ clientWindow: Duration.minutes(10) })).toEqual(
      notBefore("2026-01-01T12:10:00.000Z"),
    );
  });

  it("H56: counts the longest redelivery of queues in, though they come after it", () => {
    // 174 s × 5 + 4 days + 14 days + 2 minutes
    expect(conditionWith({ retention: Duration.days(40) }, true)).toEqual(
      notBefore("2026-01-19T12:16:30.000Z"),
    );
  });

  it("H56: counts limits that only AWS sets: the retries of a rule and of asynchronous invocations", () => {
    // 24 hours + 6 hours + 2 minutes
    expect(conditionWith({}, false, true)).toEqual(notBefore("2026-01-02T18:02:00.000Z"));
  });

  it("H56: closes for a year after a stream that keeps its records for that long", () => {
    const stack = unitStack();
    const fn = aFunction(stack);
    fn.with(new UseIdempotency(new IdempotencyTable(stack, "Table", { restoredAt })));
    const stream = new Stream(stack, "Stream", { retentionPeriod: Duration.days(365) });
    fn.addEventSource(new KinesisEventSource(stream, { startingPosition: StartingPosition.LATEST }));

    expect(rightsOf(Template.fromStack(stack), "FnServiceRole")[0]?.condition).toEqual(
      notBefore("2027-01-01T12:02:00.000Z"),
    );
  });

  it("H56: refuses to guess for how long a bucket repeats itself", () => {
    const stack = unitStack();
    const fn = aFunction(stack);
    fn.with(new UseIdempotency(new IdempotencyTable(stack, "Table", { restoredAt })));
    fn.addEventSource(new S3EventSource(new Bucket(stack, "Bucket"), { events: [EventType.OBJECT_CREATED] }));

    expect(faultsOf(stack)).toContain(
      "can't be computed because S3 doesn't say how long it retries the notifications of Test/Bucket: pass closedUntil",
    );
  });

  it("H56: accepts another duration", () => {
    const closedUntil = new Date("2026-01-02T00:00:00Z");

    expect(conditionWith({ closedUntil })).toEqual(notBefore("2026-01-02T00:00:00.000Z"));
  });

  it("fences operations all the same", () => {
    expect(conditionWith({ operations: ["ship"] })).toEqual({
      "ForAllValues:StringLike": { "dynamodb:LeadingKeys": ["ship#*"] },
      Null: { "dynamodb:LeadingKeys": "false" },
      ...notBefore("2026-01-01T12:02:00.000Z"),
    });
  });

  it("H56: refuses to guess if a number is only known at deployment", () => {
    const stack = unitStack();
    const parameter = new CfnParameter(stack, "Window", { type: "Number" });
    const table = new IdempotencyTable(stack, "Table", { restoredAt });
    const clientWindow = Duration.seconds(parameter.valueAsNumber);
    aFunction(stack).with(new UseIdempotency(table, { clientWindow }));

    expect(faultsOf(stack)).toContain(
      "how long Test/Fn must stay closed can't be computed because clientWindow is only known at deployment: pass closedUntil",
    );
  });
});

describe("IdempotencyTable.grantIdempotency on a restored table", () => {
  it("H56: refuses to grant without a declared time until which the table is closed", () => {
    const stack = unitStack();
    const role = new Role(stack, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    const table = new IdempotencyTable(stack, "Table", { restoredAt });

    expect(() => table.grantIdempotency(role)).toThrow(
      "Test/Table was restored at 2026-01-01T12:00:00.000Z and doesn't know what ran since its backup: pass closedUntil",
    );
    expect(() =>
      table.grantIdempotency(role, { closedUntil: new Date("2026-01-02T00:00:00Z") }),
    ).not.toThrow();
  });
});

describe("OutboxRelay of a restored table", () => {
  it("H56: is rejected, because it would resend messages that were sent after the backup", () => {
    const stack = unitStack();
    const table = new IdempotencyTable(stack, "Table", { restoredAt, outbox: true });

    expect(() => new OutboxRelay(stack, "Outbox", { table })).toThrow(
      "Test/Table was restored at 2026-01-01T12:00:00.000Z: Test/Outbox would resend",
    );
  });
});

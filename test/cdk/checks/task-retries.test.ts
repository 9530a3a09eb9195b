// Tasks of Step Functions whose retries are used up before the lease of a dead attempt ends.
import { Duration } from "aws-cdk-lib";
import { Annotations, Match } from "aws-cdk-lib/assertions";
import {
  DefinitionBody,
  IntegrationPattern,
  JitterType,
  JsonPath,
  type RetryProps,
  StateMachine,
  TaskInput,
  Timeout,
} from "aws-cdk-lib/aws-stepfunctions";
import { LambdaInvoke, type LambdaInvokeProps } from "aws-cdk-lib/aws-stepfunctions-tasks";
import { IdempotencyTable, UseIdempotency } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { unitStack } from "../app-given.ts";
import { aFunction } from "../given.ts";

/** The function takes 5 s at most, so that its lease is 10 s. */
function warningOf(retry?: RetryProps, task: Partial<LambdaInvokeProps> = {}): string {
  const stack = unitStack();
  const fn = aFunction(stack, "Fn", { timeout: Duration.seconds(5) });
  const table = new IdempotencyTable(stack, "Table");
  fn.with(new UseIdempotency(table, { operations: ["pay"], retention: Duration.days(60) }));
  const invoke = new LambdaInvoke(stack, "Pay", { lambdaFunction: fn, ...task });
  if (retry) invoke.addRetry(retry);
  new StateMachine(stack, "Flow", { definitionBody: DefinitionBody.fromChainable(invoke) });
  const id = Match.stringLikeRegexp("onceonly:retries-within-lease");
  return JSON.stringify(Annotations.fromStack(stack).findWarning("/Test/Fn", id));
}

const quick = { interval: Duration.seconds(1), backoffRate: 2, maxAttempts: 3 };

describe("UseIdempotency, on a task of Step Functions,", () => {
  it("warns of retries that end before the lease of an attempt that died", () => {
    expect(warningOf(quick)).toContain(
      "3 retries of a task in Test/Flow pause for 7 s < 10 s, the lease of an attempt that died (timeout 5 s of Test/Fn + clock skew 5 s)",
    );
    expect(warningOf({ ...quick, errors: ["ExecutionInProgressError"] })).toContain("7 s < 10 s");
  });

  it("F8: counts no pause with full jitter, which may pick none", () => {
    const retry = { ...quick, maxAttempts: 6, jitterStrategy: JitterType.FULL };

    expect(warningOf({ ...retry, jitterStrategy: JitterType.NONE })).toBe("[]");
    expect(warningOf(retry)).toContain("6 retries of a task in Test/Flow pause for 0 s < 10 s");
  });

  it.each<[string, RetryProps | undefined, Partial<LambdaInvokeProps>?]>([
    ["retries that outlast it", { ...quick, maxAttempts: 4 }],
    ["no retries of its errors, as CDK adds by itself", undefined],
    ["retries of other errors", { ...quick, errors: ["Throttled"] }],
    ["no retry at all", { ...quick, maxAttempts: 0 }],
    [
      "a task that is answered by a token",
      quick,
      {
        integrationPattern: IntegrationPattern.WAIT_FOR_TASK_TOKEN,
        payload: TaskInput.fromObject({ token: JsonPath.taskToken }),
        taskTimeout: Timeout.duration(Duration.hours(1)),
      },
    ],
  ])("accepts %s silently", (_, retry, task) => {
    expect(warningOf(retry, task)).toBe("[]");
  });
});

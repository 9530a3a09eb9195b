import { CfnParameter, Duration, type Stack } from "aws-cdk-lib";
import { Annotations, Match } from "aws-cdk-lib/assertions";
import { LambdaIntegration, LambdaRestApi, RestApi } from "aws-cdk-lib/aws-apigateway";
import { CfnIntegration, HttpApi, HttpMethod } from "aws-cdk-lib/aws-apigatewayv2";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import { Alias, type Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { IdempotencyTable, UseIdempotency, type UseIdempotencyOptions } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { unitStack } from "../app-given.ts";
import { aFunction, faultsOf } from "../given.ts";

function faultsWith(
  timeout: Duration,
  addApi: (stack: Stack, fn: LambdaFunction) => unknown,
  options?: UseIdempotencyOptions,
): string {
  const stack = unitStack();
  const fn = aFunction(stack, "Fn", { timeout });
  fn.with(new UseIdempotency(new IdempotencyTable(stack, "Table"), options));
  addApi(stack, fn);
  return faultsOf(stack);
}

const path = "/orders";
const methods = [HttpMethod.POST];

function httpApi(stack: Stack, fn: LambdaFunction): void {
  const integration = new HttpLambdaIntegration("Integration", fn);
  new HttpApi(stack, "Api").addRoutes({ path, methods, integration });
}

function httpApiOnAlias(stack: Stack, fn: LambdaFunction): void {
  const alias = new Alias(stack, "Live", { aliasName: "live", version: fn.currentVersion });
  const integration = new HttpLambdaIntegration("Integration", alias);
  new HttpApi(stack, "Api").addRoutes({ path, methods, integration });
}

const restApi = (stack: Stack, handler: LambdaFunction) => new LambdaRestApi(stack, "Api", { handler });

function quickRestApi(stack: Stack, fn: LambdaFunction): void {
  const integration = new LambdaIntegration(fn, { timeout: Duration.seconds(5) });
  new RestApi(stack, "Api").root.addMethod("POST", integration);
}

function quickIntegration(stack: Stack, fn: LambdaFunction): void {
  new CfnIntegration(stack, "Integration", {
    apiId: "api",
    integrationType: "AWS_PROXY",
    integrationUri: fn.functionArn,
    timeoutInMillis: 2500,
  });
}

describe("UseIdempotency proves that an API waits for its function", () => {
  it.each<[string, (stack: Stack, fn: LambdaFunction) => unknown, number]>([
    ["an HTTP API", httpApi, 30],
    ["an HTTP API before an alias", httpApiOnAlias, 30],
    ["a REST API", restApi, 29],
    ["a REST API with a timeout of its own", quickRestApi, 5],
  ])("%s", (_, addApi, limit) => {
    expect(faultsWith(Duration.seconds(limit), addApi)).toBe("");
    expect(faultsWith(Duration.seconds(limit + 1), addApi)).toContain(
      `timeout ${limit + 1} s of Test/Fn > ${limit} s, for which its API waits`,
    );
  });

  it("an integration that is a plain resource", () => {
    expect(faultsWith(Duration.seconds(2), quickIntegration)).toBe("");
    expect(faultsWith(Duration.seconds(3), quickIntegration)).toContain("timeout 3 s of Test/Fn > 2.5 s");
  });

  it("unless a retry is to fetch the result", () => {
    expect(faultsWith(Duration.minutes(5), httpApi, { outlivesGateway: true })).toBe("");
  });

  it("and leaves functions alone that no API calls", () => {
    const another = (stack: Stack) => httpApi(stack, aFunction(stack, "Another"));

    expect(faultsWith(Duration.minutes(5), another)).toBe("");
  });

  it("and notes a timeout that is known at deployment only", () => {
    const stack = unitStack();
    const timeout = Duration.seconds(new CfnParameter(stack, "Seconds", { type: "Number" }).valueAsNumber);
    const fn = aFunction(stack, "Fn", { timeout });
    fn.with(new UseIdempotency(new IdempotencyTable(stack, "Table")));
    httpApi(stack, fn);

    expect(faultsOf(stack)).toBe("");
    Annotations.fromStack(stack).hasInfo(
      "/Test/Fn",
      Match.stringLikeRegexp("whether the API before Test/Fn waits for as long as it runs is not checked"),
    );
  });
});

import { CfnParameter, Duration, type Stack } from "aws-cdk-lib";
import { Annotations, Match } from "aws-cdk-lib/assertions";
import {
  ApiDefinition,
  LambdaIntegration,
  LambdaRestApi,
  RestApi,
  SpecRestApi,
} from "aws-cdk-lib/aws-apigateway";
import { CfnApi, CfnIntegration, HttpApi, HttpMethod, WebSocketApi } from "aws-cdk-lib/aws-apigatewayv2";
import { HttpLambdaIntegration, WebSocketLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import { Vpc } from "aws-cdk-lib/aws-ec2";
import {
  ApplicationLoadBalancer,
  ListenerAction,
  ListenerCondition,
} from "aws-cdk-lib/aws-elasticloadbalancingv2";
import { LambdaTarget } from "aws-cdk-lib/aws-elasticloadbalancingv2-targets";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
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

const vpc = (stack: Stack) => new Vpc(stack, "Vpc", { maxAzs: 2, natGateways: 0 });

function webSocketApi(stack: Stack, fn: LambdaFunction): void {
  const integration = new WebSocketLambdaIntegration("Integration", fn);
  new WebSocketApi(stack, "Api", { defaultRouteOptions: { integration } });
}

const openApi = (fn: LambdaFunction, settings: object = {}) => {
  const uri = `arn:aws:apigateway:eu-west-1:lambda:path/2015-03-31/functions/${fn.functionArn}/invocations`;
  const integration = { "x-amazon-apigateway-integration": { type: "aws_proxy", uri, ...settings } };
  return { openapi: "3.0.1", info: { title: "Shop" }, paths: { "/orders": { post: integration } } };
};

const describedApi = (settings: object) => (stack: Stack, fn: LambdaFunction) =>
  new SpecRestApi(stack, "Api", { apiDefinition: ApiDefinition.fromInline(openApi(fn, settings)) });

const describedHttpApi = (stack: Stack, fn: LambdaFunction) =>
  new CfnApi(stack, "Api", { body: openApi(fn) });

const quickHttpApi = (stack: Stack, fn: LambdaFunction) =>
  new CfnApi(stack, "Api", { name: "quick", protocolType: "HTTP", target: fn.functionArn });

const loadBalancer =
  (props: { idleTimeout?: Duration }, byRule = false) =>
  (stack: Stack, fn: LambdaFunction) => {
    const balancer = new ApplicationLoadBalancer(stack, "Balancer", { vpc: vpc(stack), ...props });
    const defaultAction = ListenerAction.fixedResponse(404);
    const listener = balancer.addListener("Http", { port: 80, ...(byRule && { defaultAction }) });
    const conditions = [ListenerCondition.pathPatterns(["/orders"])];
    listener.addTargets("Fn", {
      targets: [new LambdaTarget(fn)],
      ...(byRule && { priority: 1, conditions }),
    });
  };

describe("UseIdempotency proves that an API waits for its function", () => {
  it.each<[string, (stack: Stack, fn: LambdaFunction) => unknown, number]>([
    ["an HTTP API", httpApi, 30],
    ["an HTTP API before an alias", httpApiOnAlias, 30],
    ["a REST API", restApi, 29],
    ["a REST API with a timeout of its own", quickRestApi, 5],
    ["a WebSocket API", webSocketApi, 29],
    ["a REST API of an OpenAPI document", describedApi({}), 29],
    ["a REST API of an OpenAPI document with a timeout", describedApi({ timeoutInMillis: 7000 }), 7],
    ["an HTTP API of an OpenAPI document", describedHttpApi, 30],
    ["an HTTP API that is made the quick way", quickHttpApi, 30],
  ])("%s", (_, addApi, limit) => {
    expect(faultsWith(Duration.seconds(limit), addApi)).toBe("");
    expect(faultsWith(Duration.seconds(limit + 1), addApi)).toContain(
      `timeout ${limit + 1} s of Test/Fn > ${limit} s, how long its API waits`,
    );
  });

  it.each<[string, (stack: Stack, fn: LambdaFunction) => unknown, number]>([
    ["by its default", loadBalancer({}), 60],
    ["as it is set", loadBalancer({ idleTimeout: Duration.seconds(90) }), 90],
    ["by a rule of its listener", loadBalancer({}, true), 60],
  ])("a load balancer %s", (_, addBalancer, limit) => {
    expect(faultsWith(Duration.seconds(limit), addBalancer)).toBe("");
    expect(faultsWith(Duration.seconds(limit + 1), addBalancer)).toContain(
      `timeout ${limit + 1} s of Test/Fn > ${limit} s, how long its load balancer waits`,
    );
  });

  it("and notes an API that it does not see", () => {
    const stack = unitStack();
    const fn = aFunction(stack, "Fn", { timeout: Duration.minutes(5) });
    fn.with(new UseIdempotency(new IdempotencyTable(stack, "Table")));
    fn.addPermission("Api", { principal: new ServicePrincipal("apigateway.amazonaws.com") });

    expect(faultsOf(stack)).toBe("");
    Annotations.fromStack(stack).hasInfo("/Test/Fn", Match.stringLikeRegexp("or isn't set in this app"));
  });

  it("an integration that is a plain resource", () => {
    expect(faultsWith(Duration.seconds(2), quickIntegration)).toBe("");
    expect(faultsWith(Duration.seconds(3), quickIntegration)).toContain("timeout 3 s of Test/Fn > 2.5 s");
  });

  it("once, however many methods an API has", () => {
    const many = (stack: Stack, fn: LambdaFunction) => {
      const { root } = new RestApi(stack, "Api");
      for (const method of ["GET", "POST", "PUT"]) root.addMethod(method, new LambdaIntegration(fn));
    };

    expect(faultsWith(Duration.minutes(1), many).match(/the caller gets an error/g)).toHaveLength(1);
  });

  it("unless a retry is to fetch the result", () => {
    expect(faultsWith(Duration.minutes(5), httpApi, { outlivesGateway: true })).toBe("");
  });

  it("and ignores functions that no API calls", () => {
    const another = (stack: Stack) => httpApi(stack, aFunction(stack, "Another"));

    expect(faultsWith(Duration.minutes(5), another)).toBe("");
  });

  it("and notes a timeout that is only known at deployment", () => {
    const stack = unitStack();
    const timeout = Duration.seconds(new CfnParameter(stack, "Seconds", { type: "Number" }).valueAsNumber);
    const fn = aFunction(stack, "Fn", { timeout });
    fn.with(new UseIdempotency(new IdempotencyTable(stack, "Table")));
    httpApi(stack, fn);

    expect(faultsOf(stack)).toBe("");
    Annotations.fromStack(stack).hasInfo(
      "/Test/Fn",
      Match.stringLikeRegexp("can't check whether the API in front of Test/Fn waits as long as it runs"),
    );
  });
});

import { CfnParameter, Duration, type Stack } from "aws-cdk-lib";
import {
  ApiDefinition,
  LambdaIntegration,
  LambdaRestApi,
  RestApi,
  SpecRestApi,
} from "aws-cdk-lib/aws-apigateway";
import { CfnApi, CfnIntegration, HttpApi, HttpMethod, WebSocketApi } from "aws-cdk-lib/aws-apigatewayv2";
import { HttpLambdaIntegration, WebSocketLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import { CfnDataSource } from "aws-cdk-lib/aws-appsync";
import { UserPool } from "aws-cdk-lib/aws-cognito";
import { CfnListener, CfnLoadBalancer, CfnTargetGroup } from "aws-cdk-lib/aws-elasticloadbalancingv2";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Alias, type IFunction, type Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { type Misconfiguration, noted, refused, runner } from "../given.ts";

const seconds = (count: number) => Duration.seconds(count);

const slow = (timeout: number, addApi: (stack: Stack, fn: LambdaFunction) => unknown) => (stack: Stack) =>
  addApi(stack, runner(stack, { fn: { timeout: seconds(timeout) } }));

const httpApi = (stack: Stack, fn: IFunction) => {
  const integration = new HttpLambdaIntegration("Integration", fn);
  new HttpApi(stack, "Api").addRoutes({ path: "/orders", methods: [HttpMethod.POST], integration });
};

const openApi = (fn: LambdaFunction, settings: object = {}) => {
  const uri = `arn:aws:apigateway:eu-west-1:lambda:path/2015-03-31/functions/${fn.functionArn}/invocations`;
  const integration = { "x-amazon-apigateway-integration": { type: "aws_proxy", uri, ...settings } };
  return { openapi: "3.0.1", info: { title: "Shop" }, paths: { "/orders": { post: integration } } };
};

const balancer =
  (idleSeconds?: number) =>
  (stack: Stack, fn: LambdaFunction): void => {
    const group = new CfnTargetGroup(stack, "Group", {
      targetType: "lambda",
      targets: [{ id: fn.functionArn }],
    });
    const loadBalancerAttributes =
      idleSeconds === undefined ? [] : [{ key: "idle_timeout.timeout_seconds", value: `${idleSeconds}` }];
    const { ref: loadBalancerArn } = new CfnLoadBalancer(stack, "Balancer", { loadBalancerAttributes });
    const defaultActions = [{ type: "forward", targetGroupArn: group.ref }];
    new CfnListener(stack, "Listener", { loadBalancerArn, defaultActions, port: 80, protocol: "HTTP" });
  };

const API = "s, how long its API waits";

export const GATEWAYS: readonly Misconfiguration[] = [
  refused("31 s behind an HTTP API", `timeout 31 s of Test/Fn > 30 ${API}`, slow(31, httpApi)),
  refused(
    "31 s behind an HTTP API and an alias",
    `> 30 ${API}`,
    slow(31, (stack, { currentVersion: version }) =>
      httpApi(stack, new Alias(stack, "Live", { aliasName: "live", version })),
    ),
  ),
  refused(
    "31 s behind a quick-create HTTP API",
    `> 30 ${API}`,
    slow(31, (stack, fn) => {
      new CfnApi(stack, "Api", { name: "quick", protocolType: "HTTP", target: fn.functionArn });
    }),
  ),
  refused(
    "31 s behind an HTTP API from an OpenAPI document",
    `> 30 ${API}`,
    slow(31, (stack, fn) => new CfnApi(stack, "Api", { body: openApi(fn) })),
  ),
  refused(
    "3 s behind an integration with a timeout of 2.5 s",
    `> 2.5 ${API}`,
    slow(3, (stack, fn) => {
      new CfnIntegration(stack, "Integration", {
        apiId: "api",
        integrationType: "AWS_PROXY",
        integrationUri: fn.functionArn,
        timeoutInMillis: 2500,
      });
    }),
  ),
  refused(
    "30 s behind a REST API",
    `> 29 ${API}`,
    slow(30, (stack, handler) => new LambdaRestApi(stack, "Api", { handler })),
  ),
  refused(
    "10 s behind a REST API with a timeout of 5 s",
    `> 5 ${API}`,
    slow(10, (stack, fn) => {
      const integration = new LambdaIntegration(fn, { timeout: seconds(5) });
      new RestApi(stack, "Api").root.addMethod("POST", integration);
    }),
  ),
  refused(
    "30 s behind a REST API from an OpenAPI document",
    `> 29 ${API}`,
    slow(
      30,
      (stack, fn) => new SpecRestApi(stack, "Api", { apiDefinition: ApiDefinition.fromInline(openApi(fn)) }),
    ),
  ),
  refused(
    "10 s behind an OpenAPI document with a timeout of 7 s",
    `> 7 ${API}`,
    slow(10, (stack, fn) => {
      const apiDefinition = ApiDefinition.fromInline(openApi(fn, { timeoutInMillis: 7000 }));
      new SpecRestApi(stack, "Api", { apiDefinition });
    }),
  ),
  refused(
    "30 s behind a WebSocket API",
    `> 29 ${API}`,
    slow(30, (stack, fn) => {
      const integration = new WebSocketLambdaIntegration("Integration", fn);
      new WebSocketApi(stack, "Api", { defaultRouteOptions: { integration } });
    }),
  ),
  refused("61 s behind a load balancer", "> 60 s, how long its load balancer waits", slow(61, balancer())),
  refused(
    "21 s behind a load balancer with an idle timeout of 20 s",
    "> 20 s, how long its load balancer waits",
    slow(21, balancer(20)),
  ),
  refused(
    "31 s behind an AppSync data source",
    `> 30 ${API}`,
    slow(31, (stack, fn) => {
      const lambdaConfig = { lambdaFunctionArn: fn.functionArn };
      new CfnDataSource(stack, "Source", { apiId: "api", name: "orders", type: "AWS_LAMBDA", lambdaConfig });
    }),
  ),
  refused(
    "6 s in a user pool trigger",
    "> 5 s, how long its user pool waits",
    slow(6, (stack, fn) => new UserPool(stack, "Users", { lambdaTriggers: { postConfirmation: fn } })),
  ),
  noted(
    "an API of another app",
    "onceonly:gateway-unknown",
    slow(60, (_, fn) =>
      fn.addPermission("Api", { principal: new ServicePrincipal("apigateway.amazonaws.com") }),
    ),
  ),
  noted("a timeout that is only known at deployment, behind an API", "onceonly:gateway-unknown", (stack) => {
    const number = new CfnParameter(stack, "Number", { type: "Number" }).valueAsNumber;
    httpApi(stack, runner(stack, { fn: { timeout: seconds(number) } }));
  }),
];

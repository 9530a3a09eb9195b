import type { Stack } from "aws-cdk-lib";
import {
  ApiDefinition,
  AwsIntegration,
  Cors,
  LambdaIntegration,
  LambdaRestApi,
  RestApi,
  SpecRestApi,
} from "aws-cdk-lib/aws-apigateway";
import {
  CfnApi,
  type CorsPreflightOptions,
  HttpApi,
  HttpMethod,
  MappingValue,
  ParameterMapping,
} from "aws-cdk-lib/aws-apigatewayv2";
import {
  HttpLambdaIntegration,
  type HttpLambdaIntegrationProps,
  HttpSqsIntegration,
} from "aws-cdk-lib/aws-apigatewayv2-integrations";
import {
  AllowedMethods,
  CachePolicy,
  CfnDistribution,
  Distribution,
  OriginRequestHeaderBehavior,
  OriginRequestPolicy,
  ResponseHeadersPolicy,
} from "aws-cdk-lib/aws-cloudfront";
import { FunctionUrlOrigin, HttpOrigin, RestApiOrigin } from "aws-cdk-lib/aws-cloudfront-origins";
import { Alias, FunctionUrlAuthType, type IFunction } from "aws-cdk-lib/aws-lambda";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { noted, ofItem, runner, warned } from "../given.ts";

const CORS = "onceonly:cors-headers";
const anyOrigin = { allowOrigins: Cors.ALL_ORIGINS };

const httpApi = (
  stack: Stack,
  corsPreflight?: CorsPreflightOptions,
  props: HttpLambdaIntegrationProps = {},
  fn: IFunction = runner(stack),
) => {
  const api = new HttpApi(stack, "Api", corsPreflight ? { corsPreflight } : {});
  const integration = new HttpLambdaIntegration("Integration", fn, props);
  api.addRoutes({ path: "/orders", methods: [HttpMethod.POST], integration });
  return api;
};

const openApi = (stack: Stack, { options = {}, integration = {}, document = {} }) => {
  const fn = runner(stack);
  const uri = `arn:aws:apigateway:eu-west-1:lambda:path/2015-03-31/functions/${fn.functionArn}/invocations`;
  const post = { "x-amazon-apigateway-integration": { type: "aws_proxy", uri, ...integration } };
  return {
    openapi: "3.0.1",
    info: { title: "Shop" },
    paths: { "/orders": { post, ...options } },
    ...document,
  };
};

const header = (name: string) => `method.response.header.Access-Control-Allow-${name}`;

const posting = (stack: Stack, integration: object) =>
  new RestApi(stack, "Api").root
    .addResource("orders")
    .addMethod("POST", new LambdaIntegration(runner(stack), integration));

const mapped = (template: string) => (stack: Stack) =>
  posting(stack, { proxy: false, requestTemplates: { "application/json": template } });

const cached = (setting: string) => (stack: Stack) => {
  const deployOptions = { cacheClusterEnabled: true, methodOptions: { [setting]: { cachingEnabled: true } } };
  const integration = new LambdaIntegration(runner(stack));
  new RestApi(stack, "Api", { deployOptions }).root.addResource("orders").addMethod("POST", integration);
};

const urlOf = (stack: Stack) => runner(stack).addFunctionUrl({ authType: FunctionUrlAuthType.AWS_IAM });
const allowedMethods = AllowedMethods.ALLOW_ALL;

const distributed = (behavior: object) => (stack: Stack) =>
  new Distribution(stack, "Cdn", {
    defaultBehavior: { origin: new FunctionUrlOrigin(urlOf(stack)), ...behavior },
  });

const LOST = "onceonly:header-not-forwarded";
const { CACHING_DISABLED: cachePolicy } = CachePolicy;

export const HEADERS = ofItem("B9", [
  warned("CORS settings of a REST API without the key's header, which is CDK's default", CORS, (stack) => {
    const api = new RestApi(stack, "Api", { defaultCorsPreflightOptions: anyOrigin });
    api.root.addResource("orders").addMethod("POST", new LambdaIntegration(runner(stack)));
  }),
  warned("CORS settings of a proxying REST API without the key's header", CORS, (stack) => {
    const defaultCorsPreflightOptions = { ...anyOrigin, allowHeaders: ["Content-Type"] };
    new LambdaRestApi(stack, "Api", { handler: runner(stack), defaultCorsPreflightOptions });
  }),
  warned(
    "`*` as the allowed headers of a REST API that allows credentials, with which browsers don't read it as a wildcard",
    CORS,
    (stack) => {
      const options = { allowOrigins: ["https://shop.example"], allowHeaders: ["*"], allowCredentials: true };
      new LambdaRestApi(stack, "Api", { handler: runner(stack), defaultCorsPreflightOptions: options });
    },
  ),
  warned("CORS settings of an OpenAPI document without the key's header", CORS, (stack) => {
    const responseParameters = { [header("Origin")]: "'*'", [header("Headers")]: "'Content-Type'" };
    const mock = { type: "mock", responses: { default: { statusCode: "204", responseParameters } } };
    const options = { options: { "x-amazon-apigateway-integration": mock } };
    const apiDefinition = ApiDefinition.fromInline(openApi(stack, { options }));
    new SpecRestApi(stack, "Api", { apiDefinition });
  }),
  warned("CORS settings of an HTTP API without the key's header", CORS, (stack) =>
    httpApi(stack, { ...anyOrigin, allowHeaders: ["content-type", "authorization"] }),
  ),
  warned("CORS settings of an HTTP API without any header", CORS, (stack) => httpApi(stack, anyOrigin)),
  warned("CORS settings of an HTTP API that invokes an alias, without the key's header", CORS, (stack) => {
    const { currentVersion: version } = runner(stack);
    httpApi(stack, anyOrigin, {}, new Alias(stack, "Live", { aliasName: "live", version }));
  }),
  warned("CORS settings in the OpenAPI document of an HTTP API without the key's header", CORS, (stack) => {
    const document = { "x-amazon-apigateway-cors": { allowOrigins: ["*"], allowHeaders: ["content-type"] } };
    new CfnApi(stack, "Api", { body: openApi(stack, { document }) });
  }),
  warned("CORS settings of a function URL without the key's header", CORS, (stack) => {
    const cors = { allowedOrigins: ["*"], allowedHeaders: ["content-type"] };
    runner(stack).addFunctionUrl({ authType: FunctionUrlAuthType.NONE, cors });
  }),
  warned("a response headers policy without the key's header in its CORS settings", CORS, (stack) => {
    const corsBehavior = {
      accessControlAllowCredentials: false,
      accessControlAllowHeaders: ["Content-Type"],
      accessControlAllowMethods: ["ALL"],
      accessControlAllowOrigins: ["*"],
      originOverride: true,
    };
    const responseHeadersPolicy = new ResponseHeadersPolicy(stack, "Policy", { corsBehavior });
    const { ALL_VIEWER_EXCEPT_HOST_HEADER: originRequestPolicy } = OriginRequestPolicy;
    distributed({ allowedMethods, cachePolicy, originRequestPolicy, responseHeadersPolicy })(stack);
  }),
  warned(
    "CloudFront in front of a function URL, without an origin request policy",
    LOST,
    distributed({ allowedMethods, cachePolicy }),
  ),
  warned(
    "an AWS managed origin request policy that omits the key's header",
    LOST,
    distributed({ allowedMethods, cachePolicy, originRequestPolicy: OriginRequestPolicy.CORS_CUSTOM_ORIGIN }),
  ),
  warned("an origin request policy of the app that omits the key's header", LOST, (stack) => {
    const headerBehavior = OriginRequestHeaderBehavior.allowList("Content-Type");
    const originRequestPolicy = new OriginRequestPolicy(stack, "Policy", { headerBehavior });
    distributed({ allowedMethods, cachePolicy, originRequestPolicy })(stack);
  }),
  warned("an origin request policy that forwards every header but the key's", LOST, (stack) => {
    const headerBehavior = OriginRequestHeaderBehavior.denyList("idempotency-key");
    const originRequestPolicy = new OriginRequestPolicy(stack, "Policy", { headerBehavior });
    distributed({ allowedMethods, cachePolicy, originRequestPolicy })(stack);
  }),
  warned("CloudFront in front of an HTTP API, by its domain name", LOST, (stack) => {
    const { apiId } = httpApi(stack);
    const origin = new HttpOrigin(`${apiId}.execute-api.${stack.region}.${stack.urlSuffix}`);
    new Distribution(stack, "Cdn", { defaultBehavior: { origin, allowedMethods, cachePolicy } });
  }),
  warned("one of several behaviors, in front of a REST API", LOST, (stack) => {
    const origin = new RestApiOrigin(posting(stack, {}).api as RestApi);
    const { ALL_VIEWER_EXCEPT_HOST_HEADER: originRequestPolicy } = OriginRequestPolicy;
    const whole = { origin, allowedMethods, cachePolicy };
    new Distribution(stack, "Cdn", {
      defaultBehavior: { ...whole, originRequestPolicy },
      additionalBehaviors: { "/v2/*": whole },
    });
  }),
  warned("CloudFront's older settings without the key's header", LOST, (stack) => {
    const { apiId } = httpApi(stack);
    new CfnDistribution(stack, "Cdn", {
      distributionConfig: {
        enabled: true,
        origins: [{ id: "api", domainName: `${apiId}.execute-api.eu-west-1.amazonaws.com` }],
        defaultCacheBehavior: {
          targetOriginId: "api",
          viewerProtocolPolicy: "https-only",
          allowedMethods: ["GET", "HEAD", "OPTIONS", "PUT", "PATCH", "POST", "DELETE"],
          forwardedValues: { queryString: true, headers: ["Authorization"] },
        },
      },
    });
  }),
  noted("an origin request policy of another app", "onceonly:header-unknown", (stack) => {
    const id = "11111111-2222-3333-4444-555555555555";
    const originRequestPolicy = OriginRequestPolicy.fromOriginRequestPolicyId(stack, "Policy", id);
    distributed({ allowedMethods, cachePolicy, originRequestPolicy })(stack);
  }),
  warned("CloudFront that only forwards GET", "onceonly:refused-methods", distributed({ cachePolicy })),
  warned("CloudFront that sets the key's header itself", "onceonly:changed-key", (stack) => {
    const customHeaders = { "Idempotency-Key": "shop" };
    const origin = new FunctionUrlOrigin(urlOf(stack), { customHeaders });
    new Distribution(stack, "Cdn", { defaultBehavior: { origin, allowedMethods, cachePolicy } });
  }),
  warned(
    "a mapping template that passes on only the body",
    "onceonly:dropped-key",
    mapped(`{ "order": $input.json('$') }`),
  ),
  warned("a mapping template of an OpenAPI document without the key", "onceonly:dropped-key", (stack) => {
    const requestTemplates = { "application/json": `{ "order": $input.json('$') }` };
    const document = openApi(stack, { integration: { type: "aws", requestTemplates } });
    new SpecRestApi(stack, "Api", { apiDefinition: ApiDefinition.fromInline(document) });
  }),
  warned(
    "a mapping template that makes the request's id the key",
    "onceonly:changed-key",
    mapped(`{ "idempotencyKey": "$context.requestId", "order": $input.json('$') }`),
  ),
  warned("a parameter mapping that removes the key's header", "onceonly:dropped-key", (stack) => {
    const parameterMapping = new ParameterMapping().removeHeader("idempotency-key");
    httpApi(stack, undefined, { parameterMapping });
  }),
  warned("a parameter mapping that makes the request's id the key", "onceonly:changed-key", (stack) => {
    const parameterMapping = new ParameterMapping().overwriteHeader(
      "Idempotency-Key",
      MappingValue.contextVariable("requestId"),
    );
    httpApi(stack, undefined, { parameterMapping });
  }),
  warned("a parameter mapping that makes the key a constant", "onceonly:changed-key", (stack) => {
    const value = MappingValue.custom("shop");
    const parameterMapping = new ParameterMapping().overwriteHeader("Idempotency-Key", value);
    httpApi(stack, undefined, { parameterMapping });
  }),
  warned("a REST API that caches a POST", "onceonly:cached-post", cached("/orders/POST")),
  warned("a REST API that caches every POST", "onceonly:cached-post", cached("/*/POST")),
  warned("CloudFront that is set to cache a POST", "onceonly:cached-post", (stack) => {
    const { ALL_VIEWER_EXCEPT_HOST_HEADER: originRequestPolicy } = OriginRequestPolicy;
    const { node } = distributed({ allowedMethods, cachePolicy, originRequestPolicy })(stack);
    (node.defaultChild as CfnDistribution).addPropertyOverride(
      "DistributionConfig.DefaultCacheBehavior.CachedMethods",
      ["GET", "HEAD", "POST"],
    );
  }),
  noted("a REST API that sends to a consumer's queue without the key", "onceonly:key-unknown", (stack) => {
    const queue = new Queue(stack, "Queue");
    runner(stack).addEventSource(new SqsEventSource(queue, { reportBatchItemFailures: true }));
    const integration = new AwsIntegration({
      service: "sqs",
      path: `${stack.account}/${queue.queueName}`,
      options: {
        requestParameters: {
          "integration.request.header.Content-Type": "'application/x-www-form-urlencoded'",
        },
        requestTemplates: { "application/json": "Action=SendMessage&MessageBody=$input.body" },
      },
    });
    new RestApi(stack, "Api").root.addMethod("POST", integration);
  }),
  noted("an HTTP API that sends to a consumer's queue without the key", "onceonly:key-unknown", (stack) => {
    const queue = new Queue(stack, "Queue");
    runner(stack).addEventSource(new SqsEventSource(queue, { reportBatchItemFailures: true }));
    const parameterMapping = new ParameterMapping()
      .custom("QueueUrl", queue.queueUrl)
      .custom("MessageBody", "$request.body");
    const integration = new HttpSqsIntegration("Sqs", { queue, parameterMapping });
    new HttpApi(stack, "Api").addRoutes({ path: "/orders", methods: [HttpMethod.POST], integration });
  }),
]);

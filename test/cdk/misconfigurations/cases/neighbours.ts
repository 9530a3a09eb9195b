// Set-ups that are right and look like a misconfiguration of headers.ts or inputs.ts.
import { CfnCondition, CfnParameter, Duration, Fn, Stack } from "aws-cdk-lib";
import { AwsIntegration, Cors, LambdaIntegration, LambdaRestApi, RestApi } from "aws-cdk-lib/aws-apigateway";
import {
  type CfnApi,
  CorsHttpMethod,
  HttpApi,
  HttpMethod,
  MappingValue,
  ParameterMapping,
} from "aws-cdk-lib/aws-apigatewayv2";
import {
  HttpLambdaIntegration,
  type HttpLambdaIntegrationProps,
} from "aws-cdk-lib/aws-apigatewayv2-integrations";
import {
  AllowedMethods,
  CacheHeaderBehavior,
  CachePolicy,
  Distribution,
  OriginRequestHeaderBehavior,
  OriginRequestPolicy,
  ResponseHeadersPolicy,
} from "aws-cdk-lib/aws-cloudfront";
import { FunctionUrlOrigin, HttpOrigin, S3BucketOrigin } from "aws-cdk-lib/aws-cloudfront-origins";
import { EventField, RuleTargetInput, Schedule } from "aws-cdk-lib/aws-events";
import { FunctionUrlAuthType } from "aws-cdk-lib/aws-lambda";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { Bucket } from "aws-cdk-lib/aws-s3";
import { ScheduleExpression } from "aws-cdk-lib/aws-scheduler";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { aFunction } from "../../given.ts";
import { ENV, runner } from "../given.ts";
import { piped, ruled, scheduled } from "./inputs.ts";

const allowHeaders = [...Cors.DEFAULT_HEADERS, "Idempotency-Key"];
const allowOrigins = ["https://shop.example"];

/** Each answers preflights, and none for a call that has a key but lacks its header. */
function openToBrowsers(stack: Stack): void {
  new LambdaRestApi(stack, "Rest", {
    handler: runner(stack, { id: "RestFn" }),
    defaultCorsPreflightOptions: { allowOrigins, allowHeaders, allowCredentials: true },
  });
  // Reading needs no key.
  const reading = new RestApi(stack, "Reading", { defaultCorsPreflightOptions: { allowOrigins } });
  reading.root.addMethod("GET", new LambdaIntegration(runner(stack, { id: "ReadingFn" })));
  // Keys of other functions don't matter.
  const other = new RestApi(stack, "Other", { defaultCorsPreflightOptions: { allowOrigins } });
  other.root.addMethod("POST", new LambdaIntegration(aFunction(stack, "OtherFn")));
  // Its function answers preflights itself.
  new LambdaRestApi(stack, "Own", { handler: runner(stack, { id: "OwnFn" }) });

  const preflights = {
    Lower: { allowOrigins, allowHeaders: ["content-type", "idempotency-key"] },
    Every: { allowOrigins: ["*"], allowHeaders: ["*"] },
    Reads: { allowOrigins, allowMethods: [CorsHttpMethod.GET] },
    Token: {
      allowOrigins,
      allowHeaders: new CfnParameter(stack, "Headers", { type: "CommaDelimitedList" }).valueAsList,
    },
  };
  for (const [id, corsPreflight] of Object.entries(preflights)) {
    const integration = new HttpLambdaIntegration("Integration", runner(stack, { id: `${id}Fn` }));
    new HttpApi(stack, id, { corsPreflight }).addRoutes({
      path: "/",
      methods: [HttpMethod.ANY],
      integration,
    });
  }
  const handler = new HttpLambdaIntegration("Integration", runner(stack, { id: "ConditionFn" }));
  const conditional = new HttpApi(stack, "Conditional");
  conditional.addRoutes({ path: "/", methods: [HttpMethod.POST], integration: handler });
  const isOpen = new CfnCondition(stack, "IsOpen", {
    expression: Fn.conditionEquals(stack.region, "eu-west-1"),
  });
  (conditional.node.defaultChild as CfnApi).addPropertyOverride(
    "CorsConfiguration",
    Fn.conditionIf(isOpen.logicalId, { AllowOrigins: ["*"], AllowHeaders: ["*"] }, { Ref: "AWS::NoValue" }),
  );
  for (const allowedHeaders of [["*"], ["content-type", "Idempotency-Key"]]) {
    const cors = { allowedOrigins: ["*"], allowedHeaders };
    const id = `Url${allowedHeaders.length}Fn`;
    runner(stack, { id }).addFunctionUrl({ authType: FunctionUrlAuthType.NONE, cors });
  }
}

/** By policies of AWS, by policies of the app, by the cache key, and for behaviors that lead elsewhere. */
function distributed(stack: Stack): void {
  const { ALL_VIEWER, ALL_VIEWER_EXCEPT_HOST_HEADER } = OriginRequestPolicy;
  const { CACHING_DISABLED } = CachePolicy;
  const policy = (id: string, headerBehavior: OriginRequestHeaderBehavior) =>
    new OriginRequestPolicy(stack, id, { headerBehavior });
  const policies: Record<string, object> = {
    Managed: { cachePolicy: CACHING_DISABLED, originRequestPolicy: ALL_VIEWER_EXCEPT_HOST_HEADER },
    Listed: {
      cachePolicy: CACHING_DISABLED,
      originRequestPolicy: policy("List", OriginRequestHeaderBehavior.allowList("idempotency-key")),
    },
    All: {
      cachePolicy: CACHING_DISABLED,
      originRequestPolicy: policy("Whole", OriginRequestHeaderBehavior.all()),
    },
    Denied: {
      cachePolicy: CACHING_DISABLED,
      originRequestPolicy: policy("Deny", OriginRequestHeaderBehavior.denyList("Host")),
    },
    Cached: {
      cachePolicy: new CachePolicy(stack, "Policy", {
        headerBehavior: CacheHeaderBehavior.allowList("Idempotency-Key"),
        minTtl: Duration.seconds(0),
      }),
    },
  };
  for (const [id, settings] of Object.entries(policies)) {
    const url = runner(stack, { id: `${id}Fn` }).addFunctionUrl({ authType: FunctionUrlAuthType.NONE });
    const origin = new FunctionUrlOrigin(url);
    const allowedMethods = AllowedMethods.ALLOW_ALL;
    new Distribution(stack, `${id}Cdn`, { defaultBehavior: { origin, allowedMethods, ...settings } });
  }
  // The site is read, its API is called, and one path of that is read only.
  const site = { origin: S3BucketOrigin.withOriginAccessControl(new Bucket(stack, "Site")) };
  const handler = runner(stack, { id: "ApiFn" });
  const api = new HttpApi(stack, "Api");
  const integration = new HttpLambdaIntegration("Integration", handler);
  api.addRoutes({ path: "/api/orders", methods: [HttpMethod.POST], integration });
  const origin = new HttpOrigin(Fn.select(2, Fn.split("/", api.apiEndpoint)));
  const responseHeadersPolicy = ResponseHeadersPolicy.CORS_ALLOW_ALL_ORIGINS;
  const called = {
    origin,
    allowedMethods: AllowedMethods.ALLOW_ALL,
    cachePolicy: CACHING_DISABLED,
    originRequestPolicy: ALL_VIEWER,
    responseHeadersPolicy,
  };
  new Distribution(stack, "Cdn", {
    defaultBehavior: site,
    additionalBehaviors: { "/api/status/*": { origin }, "/api/*": called },
  });
}

function mapped(stack: Stack): void {
  const post = (id: string, requestTemplate: string) =>
    new RestApi(stack, id).root.addMethod(
      "POST",
      new LambdaIntegration(runner(stack, { id: `${id}Fn` }), {
        proxy: false,
        requestTemplates: { "application/json": requestTemplate },
      }),
    );
  post("Named", `{ "key": "$input.params('Idempotency-Key')", "order": $input.json('$') }`);
  post("Every", `{ "headers": "$input.params().header", "order": $input.json('$') }`);
  post("Chosen", `{ "idempotencyKey": "$input.path('$.id')", "order": $input.json('$') }`);
  const mappings: HttpLambdaIntegrationProps[] = [
    { parameterMapping: new ParameterMapping().removeHeader("cookie") },
    {
      parameterMapping: new ParameterMapping().overwriteHeader(
        "Idempotency-Key",
        MappingValue.requestHeader("X-Request-Key"),
      ),
    },
    {
      parameterMapping: new ParameterMapping().appendHeader(
        "X-Trace",
        MappingValue.contextVariable("requestId"),
      ),
    },
  ];
  for (const [index, props] of mappings.entries()) {
    const fn = runner(stack, { id: `Mapped${index}Fn` });
    const integration = new HttpLambdaIntegration("Integration", fn, props);
    new HttpApi(stack, `Mapped${index}`).addRoutes({ path: "/", methods: [HttpMethod.POST], integration });
  }
  // An API that puts the key into its messages.
  const queue = new Queue(stack, "Queue");
  runner(stack, { id: "Consumer" }).addEventSource(
    new SqsEventSource(queue, { reportBatchItemFailures: true }),
  );
  const key =
    "&MessageAttribute.1.Name=key&MessageAttribute.1.Value.StringValue=$input.params('Idempotency-Key')";
  const requestTemplates = { "application/json": `Action=SendMessage&MessageBody=$input.body${key}` };
  const path = `${stack.account}/${queue.queueName}`;
  const sending = new AwsIntegration({ service: "sqs", path, options: { requestTemplates } });
  new RestApi(stack, "Sending").root.addMethod("POST", sending);
  // A cache of what is read.
  const methodOptions = { "/orders/GET": { cachingEnabled: true }, "/other/POST": { cachingEnabled: true } };
  const deployOptions = { cacheClusterEnabled: true, cachingEnabled: true, methodOptions };
  const { root } = new RestApi(stack, "Cached", { deployOptions });
  const orders = root.addResource("orders");
  for (const method of ["GET", "POST"]) {
    orders.addMethod(method, new LambdaIntegration(runner(stack, { id: `Cached${method}Fn` })));
  }
  root.addResource("other").addMethod("POST", new LambdaIntegration(aFunction(stack, "Search")));
}

const { fromObject, fromEventPath } = RuleTargetInput;
const inStack = (stack: Stack, id: string) => new Stack(stack.node.root, id, { env: ENV });

function inputs(stack: Stack): void {
  const daily = { schedule: Schedule.rate(Duration.days(1)) };
  const made = [
    ruled(fromObject({ id: EventField.eventId, amount: EventField.fromPath("$.detail.amount") })),
    ruled(fromObject({ orderId: EventField.fromPath("$.detail.orderId") })),
    ruled(fromEventPath("$")),
    ruled(fromEventPath("$.detail.order_id")),
    ruled(fromObject({ job: "count", time: EventField.time }), daily),
    scheduled({ time: "<aws.scheduler.scheduled-time>" }, ScheduleExpression.rate(Duration.days(1))),
    scheduled({ order: 7 }, ScheduleExpression.at(new Date("2030-01-01T00:00:00Z"))),
    piped('{ "id": <$.messageId>, "body": <$.body> }'),
    piped("<aws.pipes.event.json>"),
  ];
  for (const [index, make] of made.entries()) make(inStack(stack, `Input${index}`));
}

export type SetUp = readonly [what: string, make: (stack: Stack) => unknown];

export const NEIGHBOURS_OF_KEYS: readonly SetUp[] = [
  ["CORS settings with the key's header, for reading, or of another function", openToBrowsers],
  ["CloudFront that forwards the key, by policies of AWS, of the app and of the cache", distributed],
  ["mappings that pass the key on, and a cache of what is read", mapped],
  ["inputs that name their event or run", inputs],
];

// SAM's functions with their events as resources of CloudFormation.
import type { TemplateResource } from "../template.ts";
import type { Expansion, SamProperties } from "./expansion.ts";
import { expandHttpApi, expandRestApi, IMPLICIT_HTTP_API, IMPLICIT_REST_API } from "./sam-apis.ts";

type AddEvent = (expansion: Expansion, event: SamEvent) => void;

interface SamEvent {
  /** The function's and the event's ids: SAM's own name for the resource it generates. */
  readonly id: string;
  readonly fn: string;
  readonly properties: SamProperties;
}

const PASSED_ON = [
  "FunctionName",
  "PackageType",
  "Runtime",
  "Handler",
  "Timeout",
  "MemorySize",
  "Environment",
  "Layers",
  "DurableConfig",
];

export function expandFunction(expansion: Expansion, logicalId: string, resource: TemplateResource): void {
  const properties = resource.Properties ?? {};
  const { AutoPublishAlias, FunctionUrlConfig, EventInvokeConfig, DeadLetterQueue, Events } = properties;
  const passedOn = PASSED_ON.flatMap((name) => (name in properties ? [[name, properties[name]]] : []));
  const Properties = {
    ...Object.fromEntries(passedOn),
    Code: codeOf(properties),
    ...(DeadLetterQueue !== undefined && {
      DeadLetterConfig: { TargetArn: Object(DeadLetterQueue).TargetArn },
    }),
  };
  expansion.add(logicalId, "AWS::Lambda::Function", Properties, resource);
  if (!("Role" in properties)) expansion.add(`${logicalId}Role`, "AWS::IAM::Role", {});
  if (AutoPublishAlias !== undefined) {
    const FunctionName = { Ref: logicalId };
    const alias = { FunctionName, Name: AutoPublishAlias };
    expansion.add(`${logicalId}Alias${AutoPublishAlias}`, "AWS::Lambda::Alias", alias);
  }
  if (FunctionUrlConfig !== undefined) {
    const TargetFunctionArn = { Ref: logicalId };
    expansion.add(`${logicalId}Url`, "AWS::Lambda::Url", { ...Object(FunctionUrlConfig), TargetFunctionArn });
  }
  if (EventInvokeConfig !== undefined) {
    const FunctionName = { Ref: logicalId };
    const config = { ...Object(EventInvokeConfig), FunctionName };
    expansion.add(`${logicalId}EventInvokeConfig`, "AWS::Lambda::EventInvokeConfig", config);
  }
  for (const [name, event] of Object.entries(Object(Events) as Record<string, SamProperties>)) {
    const add = EVENTS[String(event.Type)];
    const id = logicalId + name;
    if (add) add(expansion, { id, fn: logicalId, properties: Object(event.Properties) });
    else expansion.leaveOut(resource.Type, logicalId, `its event ${name} of the type ${event.Type}`);
  }
}

/** A path is the key of an asset, which the template's reader resolves. */
function codeOf({ CodeUri, InlineCode }: SamProperties): SamProperties {
  if (InlineCode !== undefined) return { ZipFile: InlineCode };
  if (typeof CodeUri !== "object" || CodeUri === null) return { S3Key: CodeUri };
  const { Bucket, Key, ...intrinsic } = CodeUri as SamProperties;
  return Key === undefined ? { S3Key: intrinsic } : { S3Bucket: Bucket, S3Key: Key };
}

const arnOf = (logicalId: string) => ({ "Fn::GetAtt": [logicalId, "Arn"] });

const mapped =
  (source: string): AddEvent =>
  (expansion, { id, fn, properties: { [source]: EventSourceArn, ...rest } }) =>
    expansion.add(id, "AWS::Lambda::EventSourceMapping", {
      ...rest,
      EventSourceArn,
      FunctionName: { Ref: fn },
    });

const onRule: AddEvent = (expansion, { id, fn, properties }) => {
  const { Pattern, Schedule, Name, EventBusName, State, Enabled, Input, InputPath, InputTransformer } =
    properties;
  const target = { Id: id, Arn: arnOf(fn), ...defined({ Input, InputPath, InputTransformer }) };
  expansion.add(
    id,
    "AWS::Events::Rule",
    defined({
      Name,
      EventBusName,
      EventPattern: Pattern,
      ScheduleExpression: Schedule,
      State: String(Enabled ?? true) === "false" ? "DISABLED" : State,
      Targets: [target],
    }),
  );
};

const onTopic: AddEvent = (expansion, { id, fn, properties }) => {
  const { Topic, SqsSubscription, ...rest } = properties;
  if (SqsSubscription !== undefined && SqsSubscription !== false) {
    expansion.leaveOut("AWS::SNS::Subscription", id, "no queue is created for it: SqsSubscription");
    return;
  }
  expansion.add(id, "AWS::SNS::Subscription", {
    ...rest,
    TopicArn: Topic,
    Protocol: "lambda",
    Endpoint: arnOf(fn),
  });
};

const onSchedule: AddEvent = (expansion, { id, fn, properties: { Input, ...rest } }) =>
  expansion.add(id, "AWS::Scheduler::Schedule", {
    ...rest,
    Target: { Arn: arnOf(fn), ...defined({ Input }) },
  });

const onRestApi: AddEvent = (expansion, { id, fn, properties }) => {
  const { Path, Method, RestApiId, Auth } = properties;
  const api = String(Object(RestApiId).Ref ?? RestApiId ?? IMPLICIT_REST_API);
  if (api === IMPLICIT_REST_API && !expansion.resources[api]) {
    expandRestApi(expansion, api, { Type: "AWS::Serverless::Api" });
  }
  const authorizer = authorizerOf(expansion, api, Auth);
  expansion.add(id, "AWS::ApiGateway::Method", {
    RestApiId: { Ref: api },
    ResourceId: expansion.pathOf(api, String(Path)),
    HttpMethod: String(Method).toUpperCase(),
    Integration: { Type: "AWS_PROXY", Uri: arnOf(fn) },
    ...(authorizer && { AuthorizationType: "CUSTOM", AuthorizerId: { Ref: authorizer } }),
  });
};

const onHttpApi: AddEvent = (expansion, { id, fn, properties }) => {
  const { Path, Method = "ANY", ApiId, Auth, PayloadFormatVersion = "2.0", TimeoutInMillis } = properties;
  const api = String(Object(ApiId).Ref ?? ApiId ?? IMPLICIT_HTTP_API);
  if (api === IMPLICIT_HTTP_API && !expansion.resources[api]) {
    expandHttpApi(expansion, api, { Type: "AWS::Serverless::HttpApi" });
  }
  const method = String(Method).toUpperCase();
  const authorizer = authorizerOf(expansion, api, Auth);
  expansion.add(`${id}Integration`, "AWS::ApiGatewayV2::Integration", {
    ApiId: { Ref: api },
    IntegrationType: "AWS_PROXY",
    IntegrationUri: arnOf(fn),
    PayloadFormatVersion,
    ...defined({ TimeoutInMillis }),
  });
  expansion.add(id, "AWS::ApiGatewayV2::Route", {
    ApiId: { Ref: api },
    RouteKey:
      Path === undefined
        ? "$default"
        : `${method === "X-AMAZON-APIGATEWAY-ANY-METHOD" ? "ANY" : method} ${Path}`,
    Target: { "Fn::Join": ["/", ["integrations", { Ref: `${id}Integration` }]] },
    ...(authorizer && { AuthorizationType: "CUSTOM", AuthorizerId: { Ref: authorizer } }),
  });
};

/** The logical id of the authorizer that a path uses; `NONE` means no authorizer. */
function authorizerOf(expansion: Expansion, api: string, auth: unknown): string | undefined {
  const name = Object(auth).Authorizer ?? expansion.defaultAuthorizers.get(api);
  return name === undefined || name === "NONE" ? undefined : `${api}${name}`;
}

function defined(properties: SamProperties): SamProperties {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined));
}

const EVENTS: Readonly<Record<string, AddEvent>> = {
  Api: onRestApi,
  CloudWatchEvent: onRule,
  DynamoDB: mapped("Stream"),
  EventBridgeRule: onRule,
  HttpApi: onHttpApi,
  SNS: onTopic,
  SQS: mapped("Queue"),
  Schedule: onRule,
  ScheduleV2: onSchedule,
};

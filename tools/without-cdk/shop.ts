// The stack from which the examples for apps without CDK are made: every construct once, with the functions of an app.
import { App, type CfnElement, CfnParameter, DefaultStackSynthesizer, Duration, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import {
  Alias,
  Code,
  type FunctionOptions,
  Function as LambdaFunction,
  Runtime,
  Version,
} from "aws-cdk-lib/aws-lambda";
import { Topic } from "aws-cdk-lib/aws-sns";
import {
  DedupQueue,
  IdempotencyMonitoring,
  IdempotencyTable,
  OutboxRelay,
  Reconciler,
  UseIdempotency,
  type UseIdempotencyOptions,
  UseStartOnce,
} from "onceonly/cdk";

export interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: string;
  readonly DependsOn?: readonly string[];
}

export interface ShopTemplate {
  readonly Parameters: Readonly<Record<string, { readonly Type: string; readonly Description: string }>>;
  readonly Resources: Readonly<Record<string, Resource>>;
}

/** The path at which npm installs OutboxRelay's functions: users type it, so it can't change. */
export const PREBUILT = "node_modules/onceonly/dist/functions/outbox";

/** The app's own code, by the function: a folder with an `index.mjs`. */
const OWN = {
  CreateOrder: "build/create-order",
  ShipOrder: "build/ship-order",
  FulfilOrder: "build/fulfil-order",
  StartFulfilment: "build/start-fulfilment",
  Reconcile: "build/reconcile",
};

/** Logical ids that a person would give. */
class NamedStack extends Stack {
  protected override allocateLogicalId({ node }: CfnElement): string {
    return node.scopes
      .slice(2)
      .map(({ node: { id } }) => id.replace(/\W/g, "").replace(/[\dA-F]{8}$/, ""))
      .filter((id) => id !== "Resource" && id !== "Default")
      .join("")
      .replace(/(Service)?RoleDefaultPolicy$/, "Rights")
      .replace(/ServiceRole$/, "Role");
  }
}

function shop(): Stack {
  const app = new App({
    builtinCloudFormationValidation: false,
    analyticsReporting: false,
    context: { "@aws-cdk/aws-iam:minimizePolicies": true },
  });
  const stack = new NamedStack(app, "Shop", {
    synthesizer: new DefaultStackSynthesizer({ generateBootstrapVersionRule: false }),
  });
  const alarmTopic = new CfnParameter(stack, "AlarmTopic", {
    description: "The ARN of the SNS topic that hears of alarms",
  });

  const table = new IdempotencyTable(stack, "Records", { outbox: true, unknownOutcomes: true });
  const shipments = new DedupQueue(stack, "Shipments");

  const functionOf = (id: keyof typeof OWN, timeout: Duration, options: FunctionOptions = {}) =>
    new LambdaFunction(stack, id, {
      runtime: Runtime.NODEJS_24_X,
      handler: "index.handler",
      code: Code.fromInline("export const handler = () => {}"),
      timeout,
      memorySize: 512,
      ...options,
    });
  const running = (id: keyof typeof OWN, options: UseIdempotencyOptions, settings?: FunctionOptions) => {
    const fn = functionOf(id, Duration.seconds(29), settings);
    fn.with(new UseIdempotency(table, options));
    return fn;
  };
  const createOrder = running("CreateOrder", { operations: ["create-order"], commits: true });
  const shipOrder = running("ShipOrder", { operations: ["ship-order"], retention: Duration.days(40) });
  shipments.addConsumer(shipOrder);

  const fulfilOrder = running(
    "FulfilOrder",
    { operations: ["fulfil-order", "charge", "ship"], commits: true },
    { durableConfig: { executionTimeout: Duration.days(7), retentionPeriod: Duration.days(30) } },
  );
  const version = new Version(stack, "FulfilOrderVersion1", { lambda: fulfilOrder });
  // SAM gives the alias that it makes this logical id.
  const live = new Alias(stack, "FulfilOrderAliaslive", { aliasName: "live", version });
  functionOf("StartFulfilment", Duration.seconds(29)).with(new UseStartOnce(live));

  const { relay, sweeper } = new OutboxRelay(stack, "Outbox", { table, destinations: [shipments.queue] });
  const reconciler = functionOf("Reconcile", Duration.minutes(1));
  new Reconciler(stack, "Reconciling", { table, handler: reconciler });

  new IdempotencyMonitoring(stack, "Alarm", {
    table,
    functions: [createOrder, shipOrder],
    relay,
    sweeper,
    reconciler,
    queues: [shipments.queue],
    deadLetterQueues: [shipments.deadLetterQueue],
    alarmActions: [new SnsAction(Topic.fromTopicArn(stack, "Topic", alarmTopic.valueAsString))],
  });
  return stack;
}

/** CDK's synthesis of the stack, without the dashboard, and with paths in place of assets. */
export function shopTemplate(): ShopTemplate {
  const { Parameters, Resources } = Template.fromStack(shop()).toJSON() as ShopTemplate;
  const entries = Object.entries(Resources)
    .filter(([, { Type }]) => Type !== "AWS::CloudWatch::Dashboard")
    .map(([id, resource]): [string, Resource] => [id, withCode(id, resource)]);
  return { Parameters, Resources: Object.fromEntries(entries) };
}

function withCode(id: string, resource: Resource): Resource {
  if (resource.Type !== "AWS::Lambda::Function") return resource;
  const Code = id in OWN ? OWN[id as keyof typeof OWN] : PREBUILT;
  return { ...resource, Properties: { ...resource.Properties, Code } };
}

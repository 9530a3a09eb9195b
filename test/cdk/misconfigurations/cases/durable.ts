import { CfnParameter, Duration, Mixins, type Stack } from "aws-cdk-lib";
import { HttpApi } from "aws-cdk-lib/aws-apigatewayv2";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction as Target } from "aws-cdk-lib/aws-events-targets";
import { Alias, type CfnFunction, type DurableConfig, Version } from "aws-cdk-lib/aws-lambda";
import { SqsDestination } from "aws-cdk-lib/aws-lambda-destinations";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { DedupQueue, UseStartOnce, type UseStartOnceOptions } from "onceonly/cdk";
import { aFunction } from "../../given.ts";
import { type Misconfiguration, noted, ofItem, refused, runner, warned } from "../given.ts";

const minutes = (count: number) => ({ executionTimeout: Duration.minutes(count) });
const days = (count: number) => ({ executionTimeout: Duration.days(count) });

const durable = (stack: Stack, durableConfig: DurableConfig = days(30), id = "Fulfil") =>
  runner(stack, { id, fn: { durableConfig } });
const live = (stack: Stack, config?: DurableConfig) => durable(stack, config).addAlias("live");

function dispatcher(stack: Stack, options?: UseStartOnceOptions, target: Alias | Version = live(stack)) {
  const fn = aFunction(stack, "Start", { timeout: Duration.seconds(29) });
  fn.with(new UseStartOnce(target, options));
  return fn;
}

const events = (stack: Stack, hiddenSeconds = 900) =>
  new SqsEventSource(
    new Queue(stack, "Queue", {
      visibilityTimeout: Duration.seconds(hiddenSeconds),
      deadLetterQueue: { queue: new Queue(stack, "Dead"), maxReceiveCount: 5 },
    }),
    { reportBatchItemFailures: true },
  );

export const DURABLE: readonly Misconfiguration[] = ofItem("R4", [
  refused(
    "a dispatcher that starts a function that isn't durable",
    "which isn't a durable function",
    (stack) => dispatcher(stack, {}, aFunction(stack, "Fulfil").addAlias("live")),
  ),
  refused("a retention period that a redelivery outlives", "retention period 1209600 s of", (stack) =>
    new DedupQueue(stack, "Queue").addConsumer(dispatcher(stack)),
  ),
  warned("redeliveries that no retention period covers", "onceonly:execution-names", (stack) =>
    dispatcher(stack, { clientWindow: Duration.days(100) }),
  ),
  noted("a durable function of another app", "onceonly:execution-names-unknown", (stack) => {
    const arn = "arn:aws:lambda:eu-west-1:111111111111:function:fulfil:2";
    const aliasVersion = Version.fromVersionArn(stack, "Two", arn);
    const alias = Alias.fromAliasAttributes(stack, "Live", { aliasName: "live", aliasVersion });
    dispatcher(stack, {}, alias as Alias);
  }),
  noted(
    "a retention period that is only known at deployment",
    "onceonly:execution-names-unknown",
    (stack) => {
      const alias = live(stack);
      const days = new CfnParameter(stack, "Days", { type: "Number" }).valueAsNumber;
      const { node } = stack.node.findChild("Fulfil");
      (node.defaultChild as CfnFunction).addPropertyOverride("DurableConfig.RetentionPeriodInDays", days);
      dispatcher(stack, {}, alias);
    },
  ),
  refused("a dispatcher that starts a function without a version", "has no version and no alias", (stack) =>
    dispatcher(stack, {}, durable(stack) as never),
  ),
  refused("a dispatcher that starts `$LATEST`", "is $LATEST", (stack) =>
    dispatcher(stack, {}, durable(stack).latestVersion as never),
  ),
  refused("`UseStartOnce` on a stack", "which isn't a Lambda function with an environment", (stack) =>
    Mixins.of(stack).apply(new UseStartOnce(live(stack))),
  ),
  refused("`UseStartOnce` twice", "already has UseStartOnce", (stack) => {
    const alias = live(stack);
    dispatcher(stack, {}, alias).with(new UseStartOnce(alias));
  }),
  refused("a queue that feeds executions of more than 15 minutes", "s of Test/Fulfil > 900 s", (stack) =>
    live(stack, minutes(16)).addEventSource(events(stack)),
  ),
  warned("a queue that feeds a durable function", "onceonly:durable-event-source", (stack) =>
    live(stack, minutes(15)).addEventSource(events(stack)),
  ),
  refused("a visibility timeout that is shorter than an execution", "< execution timeout 900 s", (stack) =>
    live(stack, minutes(15)).addEventSource(events(stack, 899)),
  ),
  refused("a mapping to a durable function without a version", "without a version or an alias", (stack) =>
    durable(stack, minutes(15)).addEventSource(events(stack)),
  ),
  refused("a rule for a durable function without a version", "without a version or an alias", (stack) => {
    const target = new Target(durable(stack, minutes(15)));
    new Rule(stack, "Rule", { schedule: Schedule.rate(Duration.hours(1)), targets: [target] });
  }),
  refused("an API that waits for less time than executions last", "execution timeout 60 s of", (stack) => {
    const defaultIntegration = new HttpLambdaIntegration("Integration", live(stack, minutes(1)));
    new HttpApi(stack, "Api", { defaultIntegration });
  }),
  warned("a destination of a durable function", "onceonly:durable-destination", (stack) =>
    durable(stack).configureAsyncInvoke({
      maxEventAge: Duration.hours(1),
      onSuccess: new SqsDestination(new Queue(stack, "Done")),
    }),
  ),
  warned("executions that outlive the records of their steps", "onceonly:durable-retention", (stack) =>
    durable(stack, days(61)),
  ),
]);

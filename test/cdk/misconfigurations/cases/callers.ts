import { Duration, type Stack } from "aws-cdk-lib";
import { LambdaIntegration, RestApi } from "aws-cdk-lib/aws-apigateway";
import { CfnGatewayTarget } from "aws-cdk-lib/aws-bedrockagentcore";
import { Distribution } from "aws-cdk-lib/aws-cloudfront";
import { FunctionUrlOrigin } from "aws-cdk-lib/aws-cloudfront-origins";
import { Alarm } from "aws-cdk-lib/aws-cloudwatch";
import { LambdaAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { Peer, Port, SecurityGroup, SubnetType, Vpc } from "aws-cdk-lib/aws-ec2";
import { CfnSubscriber } from "aws-cdk-lib/aws-eventsv2";
import { CfnTopicRule } from "aws-cdk-lib/aws-iot";
import { Stream } from "aws-cdk-lib/aws-kinesis";
import { CfnDeliveryStream } from "aws-cdk-lib/aws-kinesisfirehose";
import {
  CfnEventSourceMapping,
  type IFunction,
  type Function as LambdaFunction,
} from "aws-cdk-lib/aws-lambda";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { CfnPipe, type CfnPipeProps } from "aws-cdk-lib/aws-pipes";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { DefinitionBody, StateMachine, Timeout } from "aws-cdk-lib/aws-stepfunctions";
import { LambdaInvoke } from "aws-cdk-lib/aws-stepfunctions-tasks";
import { OutboxRelay } from "onceonly/cdk";
import { type Misconfiguration, noted, refused, runner, tableIn, warned } from "../given.ts";

const seconds = (count: number) => Duration.seconds(count);
const roleArn = "arn:aws:iam::111111111111:role/any";
const pipe = (stack: Stack, fn: LambdaFunction, source: string, props: Partial<CfnPipeProps> = {}) =>
  new CfnPipe(stack, "Pipe", { roleArn, source, target: fn.functionArn, ...props });

export const PIPES: readonly Misconfiguration[] = [
  refused(
    "a pipe from a queue whose visibility timeout is shorter than the function's timeout",
    "< timeout 60 s of Test/Fn",
    (stack) => {
      pipe(stack, runner(stack, { fn: { timeout: seconds(60) } }), new Queue(stack, "Queue").queueArn);
    },
  ),
  warned("a pipe and a consumer of one queue", "onceonly:shared-queue", (stack) => {
    const queue = new Queue(stack, "Queue");
    const fn = runner(stack);
    fn.addEventSource(new SqsEventSource(queue, { reportBatchItemFailures: true }));
    pipe(stack, fn, queue.queueArn);
  }),
  warned("a pipe from a FIFO queue without dead letters", "onceonly:no-dead-letters", (stack) => {
    pipe(stack, runner(stack), new Queue(stack, "Queue", { fifo: true }).queueArn);
  }),
  warned("a pipe that doesn't wait for a batch's response", "onceonly:no-batch-failures", (stack) => {
    pipe(stack, runner(stack), new Stream(stack, "Stream").streamArn, {
      sourceParameters: { kinesisStreamParameters: { startingPosition: "LATEST" } },
      targetParameters: { lambdaFunctionParameters: { invocationType: "FIRE_AND_FORGET" } },
    });
  }),
  warned("finite retries for a pipe, and no dead-letter queue", "onceonly:dropped-records", (stack) => {
    const kinesisStreamParameters = { startingPosition: "LATEST", maximumRetryAttempts: 20 };
    pipe(stack, runner(stack), new Stream(stack, "Stream").streamArn, {
      sourceParameters: { kinesisStreamParameters },
    });
  }),
  warned("Kafka in queue mode without a destination", "onceonly:dropped-records", (stack) => {
    new CfnEventSourceMapping(stack, "Mapping", {
      functionName: runner(stack).functionName,
      topics: ["orders"],
      selfManagedEventSource: { endpoints: { kafkaBootstrapServers: ["b-1:9092"] } },
      selfManagedKafkaEventSourceConfig: { consumptionMode: "Queue" },
    });
  }),
  noted(
    "a subscriber of a custom event bus that passes several events in one invocation",
    "onceonly:batched-events",
    (stack) => {
      subscriber(stack, runner(stack));
    },
  ),
  warned(
    "a subscriber of a custom event bus without a dead-letter queue",
    "onceonly:dropped-events",
    (stack) => {
      subscriber(stack, runner(stack), { invocationType: "REQUEST_RESPONSE" });
    },
  ),
];

const subscriber = (stack: Stack, { functionArn: targetArn }: IFunction, lambdaParameters = {}) =>
  new CfnSubscriber(stack, "Subscriber", {
    eventBusArn: "arn:aws:events:eu-west-1:111111111111:event-busv2/orders/abcdefghijklmnopqrstuvwxy",
    name: "ship",
    startingPosition: "LATEST",
    invokeConfiguration: { targetArn, roleArn, lambdaParameters },
  });

export const WAITING: readonly Misconfiguration[] = [
  refused("31 s behind a function URL and CloudFront", "> 30 s, how long its distribution waits", (stack) => {
    const origin = new FunctionUrlOrigin(runner(stack, { fn: { timeout: seconds(31) } }).addFunctionUrl());
    new Distribution(stack, "Distribution", { defaultBehavior: { origin } });
  }),
  refused(
    "11 s in a Step Functions task with a timeout of 10 s",
    "> 10 s, how long its task waits",
    (stack) => {
      const lambdaFunction = runner(stack, { fn: { timeout: seconds(11) } });
      const task = new LambdaInvoke(stack, "Pay", {
        lambdaFunction,
        taskTimeout: Timeout.duration(seconds(10)),
      });
      new StateMachine(stack, "Machine", { definitionBody: DefinitionBody.fromChainable(task) });
    },
  ),
  refused(
    "31 s behind a subscriber of a custom event bus that waits for the response",
    "> 30 s, how long its subscriber waits",
    (stack) => {
      subscriber(stack, runner(stack, { fn: { timeout: seconds(31) } }), {
        invocationType: "REQUEST_RESPONSE",
      });
    },
  ),
];

export const CALLERS: readonly Misconfiguration[] = [
  warned("a REST API that has Lambda queue the invocation", "onceonly:asynchronous-window", (stack) => {
    const fn = runner(stack, { retention: Duration.hours(1), fn: { timeout: seconds(60) } });
    const requestParameters = { "integration.request.header.X-Amz-Invocation-Type": "'Event'" };
    new RestApi(stack, "Api").root.addMethod(
      "POST",
      new LambdaIntegration(fn, { proxy: false, requestParameters }),
    );
  }),
  noted("an alarm that invokes the function", "onceonly:retention-unknown", (stack) => {
    const fn = runner(stack);
    const alarm = new Alarm(stack, "Alarm", {
      metric: fn.metricErrors(),
      threshold: 1,
      evaluationPeriods: 1,
    });
    alarm.addAlarmAction(new LambdaAction(fn));
  }),
  noted("the rotation of a secret", "onceonly:retention-unknown", (stack) => {
    new Secret(stack, "Secret").addRotationSchedule("Rotation", { rotationLambda: runner(stack) });
  }),
  noted("a Firehose transformation", "onceonly:retention-unknown", (stack) => {
    const parameterValue = runner(stack).functionArn;
    const parameters = [{ parameterName: "LambdaArn", parameterValue }];
    const processingConfiguration = { enabled: true, processors: [{ type: "Lambda", parameters }] };
    const extendedS3DestinationConfiguration = {
      bucketArn: "arn:aws:s3:::b",
      roleArn,
      processingConfiguration,
    };
    new CfnDeliveryStream(stack, "Delivery", { extendedS3DestinationConfiguration });
  }),
  noted("a target of an AgentCore gateway", "onceonly:retention-unknown", (stack) => {
    const lambda = { lambdaArn: runner(stack).functionArn, toolSchema: { inlinePayload: [] } };
    new CfnGatewayTarget(stack, "Tool", { name: "pay", targetConfiguration: { mcp: { lambda } } });
  }),
  noted("an AWS IoT rule in the app", "onceonly:retention-unknown", (stack) => {
    const actions = [{ lambda: { functionArn: runner(stack).functionArn } }];
    new CfnTopicRule(stack, "Rule", { topicRulePayload: { sql: "SELECT * FROM 'orders'", actions } });
  }),
];

const isolated = (stack: Stack) => ({
  vpc: new Vpc(stack, "Vpc", {
    natGateways: 0,
    availabilityZones: ["eu-west-1a"],
    subnetConfiguration: [{ name: "Inner", subnetType: SubnetType.PRIVATE_ISOLATED }],
  }),
  vpcSubnets: { subnetType: SubnetType.PRIVATE_ISOLATED },
});

export const NETWORKS: readonly Misconfiguration[] = [
  warned("a function whose security groups allow no outbound traffic", "onceonly:no-way-out", (stack) => {
    const vpc = new Vpc(stack, "Vpc", { natGateways: 1, availabilityZones: ["eu-west-1a"] });
    const group = new SecurityGroup(stack, "Group", { vpc, allowAllOutbound: false });
    runner(stack, { fn: { vpc, securityGroups: [group] } });
  }),
  warned(
    "a function whose security groups allow outbound traffic on other ports only",
    "onceonly:no-way-out",
    (stack) => {
      const vpc = new Vpc(stack, "Vpc", { natGateways: 1, availabilityZones: ["eu-west-1a"] });
      const group = new SecurityGroup(stack, "Group", { vpc, allowAllOutbound: false });
      group.addEgressRule(Peer.anyIpv4(), Port.tcp(5432));
      runner(stack, { fn: { vpc, securityGroups: [group] } });
    },
  ),
  warned("a function in a VPC without a route to DynamoDB", "onceonly:no-way-out", (stack) =>
    runner(stack, { fn: isolated(stack) }),
  ),
  warned("a relay in a VPC without a route to DynamoDB", "onceonly:no-way-out", (stack) => {
    const table = tableIn(stack, { outbox: true });
    new OutboxRelay(stack, "Outbox", { table, destinations: [new Queue(stack, "To")], ...isolated(stack) });
  }),
];

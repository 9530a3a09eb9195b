import { Aspects, Stack } from "aws-cdk-lib";
import {
  GatewayVpcEndpointAwsService,
  InterfaceVpcEndpointAwsService,
  SubnetType,
  Vpc,
} from "aws-cdk-lib/aws-ec2";
import type { CfnRule } from "aws-cdk-lib/aws-events";
import { AnyPrincipal, PolicyStatement } from "aws-cdk-lib/aws-iam";
import {
  CfnEventSourceMapping,
  type CfnFunction,
  type Function as LambdaFunction,
} from "aws-cdk-lib/aws-lambda";
import { Topic } from "aws-cdk-lib/aws-sns";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { IdempotencyMonitoring, IdempotencyTable, OutboxRelay, type OutboxRelayProps } from "onceonly/cdk";
import { ENV, noted, ofItem, refused, runner, tableIn, warned } from "../given.ts";

const relay = (stack: Stack, props: Partial<OutboxRelayProps> = {}) =>
  new OutboxRelay(stack, "Outbox", {
    table: tableIn(stack, { outbox: true }),
    destinations: [new Queue(stack, "To")],
    ...props,
  });

const mappingOf = ({ relay: { node } }: OutboxRelay) =>
  node.findAll().find((each) => each instanceof CfnEventSourceMapping) as CfnEventSourceMapping;

const filtered = (pattern: object) => (stack: Stack) =>
  mappingOf(relay(stack)).addPropertyOverride("FilterCriteria", {
    Filters: [{ Pattern: JSON.stringify(pattern) }],
  });

const resourceOf = ({ node }: LambdaFunction) => node.defaultChild as CfnFunction;

const overridden = (part: "relay" | "sweeper", name: string, value: unknown) => (stack: Stack) =>
  resourceOf(relay(stack)[part]).addPropertyOverride(name, value);

const variable = (name: string) => `Environment.Variables.${name}`;

/** Isolated subnets with an endpoint of DynamoDB. */
export function isolated(stack: Stack) {
  const vpc = new Vpc(stack, "Vpc", {
    natGateways: 0,
    availabilityZones: ["eu-west-1a"],
    subnetConfiguration: [{ name: "Inner", subnetType: SubnetType.PRIVATE_ISOLATED }],
  });
  const endpoint = vpc.addGatewayEndpoint("Tables", { service: GatewayVpcEndpointAwsService.DYNAMODB });
  return { vpc, endpoint, vpcSubnets: { subnets: vpc.isolatedSubnets } };
}

export const allow = (actions: string[], resources: string[]) =>
  new PolicyStatement({ actions, resources, principals: [new AnyPrincipal()] });

/** A relay that has destinations for these operations, and functions that commit those. */
export const perOperation = (named: readonly string[], committed: readonly string[]) => (stack: Stack) => {
  const table = tableIn(stack, { outbox: true });
  const destinations = Object.fromEntries(named.map((name) => [name, [new Queue(stack, `${name}Queue`)]]));
  new OutboxRelay(stack, "Outbox", { table, destinations });
  for (const id of committed) runner(stack, { id, table, commits: true });
};

export const RELAY_PARTS = ofItem("B8", [
  warned("a mapping of the relay that is disabled", "onceonly:relay-off", (stack) => {
    mappingOf(relay(stack)).enabled = false;
  }),
  warned("a mapping of the relay to the stream of another table", "onceonly:relay-off", (stack) => {
    const other = new IdempotencyTable(stack, "Other", { outbox: true });
    mappingOf(relay(stack)).eventSourceArn = other.table.tableStreamArn as string;
  }),
  warned("a mapping of the relay that is removed", "onceonly:relay-off", (stack) => {
    relay(stack).relay.node.tryRemoveChild("Stream");
  }),
  warned(
    "a filter of the relay for new records only",
    "onceonly:relay-filter",
    filtered({ eventName: ["INSERT"] }),
  ),
  warned(
    "a filter of the relay for one operation only",
    "onceonly:relay-filter",
    filtered({ dynamodb: { Keys: { pk: { S: [{ prefix: "pay#" }] } } } }),
  ),
  warned("an aspect that narrows the filters of all mappings", "onceonly:relay-filter", (stack) => {
    relay(stack);
    Aspects.of(stack).add({
      visit(node) {
        if (!(node instanceof CfnEventSourceMapping)) return;
        node.filterCriteria = { filters: [{ pattern: JSON.stringify({ eventName: ["INSERT"] }) }] };
      },
    });
  }),
  warned("a relay that starts at the latest change", "onceonly:relay-start", (stack) => {
    mappingOf(relay(stack)).startingPosition = "LATEST";
  }),
  warned("a relay without `ReportBatchItemFailures`", "onceonly:no-batch-failures", (stack) => {
    mappingOf(relay(stack)).functionResponseTypes = [];
  }),
  warned(
    "an override of the relay's reserved concurrency",
    "onceonly:no-concurrency",
    overridden("relay", "ReservedConcurrentExecutions", 0),
  ),
  warned(
    "an override of the sweeper's reserved concurrency",
    "onceonly:no-concurrency",
    overridden("sweeper", "ReservedConcurrentExecutions", 0),
  ),
  warned("a rule of the sweeper that is off", "onceonly:no-sweep", (stack) => {
    (relay(stack).sweeping.node.defaultChild as CfnRule).state = "DISABLED";
  }),
  warned("a rule of the sweeper without its target", "onceonly:no-sweep", (stack) => {
    (relay(stack).sweeping.node.defaultChild as CfnRule).addPropertyDeletionOverride("Targets");
  }),
  refused(
    "an override of the relay's shards",
    "Test/Outbox/Relay sets the variable",
    overridden("relay", variable("OUTBOX_SHARDS"), "4"),
  ),
  refused(
    "an override of the relay's table",
    "Test/Outbox/Relay sets the variable IDEMPOTENCY_TABLE to a different value",
    overridden("relay", variable("IDEMPOTENCY_TABLE"), "other"),
  ),
  refused(
    "a different table that is set on the sweeper",
    "Test/Outbox/Sweeper sets the variable",
    (stack) => {
      relay(stack).sweeper.addEnvironment("IDEMPOTENCY_TABLE", "other");
    },
  ),
  warned("a relay in a VPC without a route to SQS", "onceonly:no-way-out", (stack) => {
    const { vpc, vpcSubnets } = isolated(stack);
    relay(stack, { vpc, vpcSubnets });
  }),
  warned("a relay in a VPC without a route to one of its destinations", "onceonly:no-way-out", (stack) => {
    const { vpc, vpcSubnets } = isolated(stack);
    vpc.addInterfaceEndpoint("Queues", { service: InterfaceVpcEndpointAwsService.SQS });
    relay(stack, { vpc, vpcSubnets }).addDestination(new Topic(stack, "Topic"));
  }),
  warned(
    "a destination for a misspelled operation",
    "onceonly:unknown-operation",
    perOperation(["pya"], ["pay"]),
  ),
  warned(
    "a destination for an operation that no function commits",
    "onceonly:unknown-operation",
    perOperation(["pay", "refund"], ["pay"]),
  ),
  noted(
    "an operation that commits but has no destination",
    "onceonly:no-destination",
    perOperation(["pay"], ["pay", "refund"]),
  ),
]);

export const ENDPOINTS = ofItem("B14", [
  warned("an endpoint whose policy omits the table", "onceonly:endpoint-policy", (stack) => {
    const { endpoint, ...fn } = isolated(stack);
    endpoint.addToPolicy(allow(["dynamodb:*"], [`arn:aws:dynamodb:eu-west-1:111111111111:table/other`]));
    runner(stack, { fn });
  }),
  warned("an endpoint whose policy allows only reads", "onceonly:endpoint-policy", (stack) => {
    const { endpoint, ...fn } = isolated(stack);
    endpoint.addToPolicy(allow(["dynamodb:Get*", "dynamodb:Query"], ["*"]));
    runner(stack, { fn });
  }),
  warned(
    "an endpoint whose policy lists a different table of the app",
    "onceonly:endpoint-policy",
    (stack) => {
      const { endpoint, ...fn } = isolated(stack);
      endpoint.addToPolicy(allow(["dynamodb:*"], [tableIn(stack).tableArn]));
      runner(stack, { fn });
    },
  ),
  warned("an endpoint whose policy omits a relay's queue", "onceonly:endpoint-policy", (stack) => {
    const { vpc, vpcSubnets } = isolated(stack);
    const endpoint = vpc.addInterfaceEndpoint("Queues", { service: InterfaceVpcEndpointAwsService.SQS });
    endpoint.addToPolicy(allow(["sqs:SendMessage"], [new Queue(stack, "Other").queueArn]));
    relay(stack, { vpc, vpcSubnets });
  }),
]);

export const WATCHED = ofItem("B8", [
  warned("an operation that no function runs", "onceonly:unknown-operation", (stack) => {
    const table = tableIn(stack);
    runner(stack, { id: "pay", table });
    new IdempotencyMonitoring(stack, "Monitoring", { table, operations: ["pay", "pya"] });
  }),
  warned("such an operation, in a separate stack", "onceonly:unknown-operation", (stack) => {
    const table = tableIn(stack);
    runner(stack, { id: "pay", table });
    const other = new Stack(stack.node.root, "Watch", { env: ENV });
    new IdempotencyMonitoring(other, "Monitoring", { table, operations: ["pya"] });
  }),
]);

// Set-ups that are right and look like a misconfiguration of relay-parts.ts.
import { Aspects, CfnParameter, CfnResource, Fn, Stack, Stage, Tags } from "aws-cdk-lib";
import {
  GatewayVpcEndpointAwsService,
  InterfaceVpcEndpointAwsService,
  SubnetType,
  Vpc,
} from "aws-cdk-lib/aws-ec2";
import { EventBus } from "aws-cdk-lib/aws-events";
import { CfnEventSourceMapping } from "aws-cdk-lib/aws-lambda";
import { Topic } from "aws-cdk-lib/aws-sns";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { IdempotencyMonitoring, IdempotencyTable, OutboxRelay } from "onceonly/cdk";
import { ENV, runner, tableIn } from "../given.ts";
import type { SetUp } from "./neighbours.ts";
import { allow, isolated, perOperation } from "./relay-parts.ts";

const inStack = (stack: Stack, id: string) => new Stack(stack.node.root, id, { env: ENV });

/** Changes that take nothing away. */
function changedRelays(stack: Stack): void {
  const relay = (id: string) => {
    const own = inStack(stack, id);
    const table = new IdempotencyTable(own, "Table", { outbox: true });
    return new OutboxRelay(own, "Outbox", { table, destinations: [new Queue(own, "To")] });
  };
  const mappingOf = ({ relay: { node } }: OutboxRelay) =>
    node.findAll().find((each) => each instanceof CfnEventSourceMapping) as CfnEventSourceMapping;
  mappingOf(relay("Unfiltered")).addPropertyDeletionOverride("FilterCriteria");
  const both = { eventName: ["INSERT", "MODIFY"] };
  mappingOf(relay("Both")).filterCriteria = { filters: [{ pattern: JSON.stringify(both) }] };
  const enabled = new CfnParameter(stack, "Enabled", { default: "true" }).valueAsString;
  mappingOf(relay("Token")).addPropertyOverride("Enabled", enabled);
  const tagged = relay("Tagged");
  Tags.of(tagged).add("team", "payments");
  Aspects.of(tagged).add({
    visit(node) {
      if (!CfnResource.isCfnResource(node) || node.cfnResourceType !== "AWS::Lambda::Function") return;
      node.addPropertyOverride("Environment.Variables.TRACE", "on");
      node.addPropertyOverride("ReservedConcurrentExecutions", 5);
    },
  });
}

/** Destinations by operation, whose functions are in this app, in another stack, or know the table by its name. */
function perOperations(stack: Stack): void {
  perOperation(["pay", "refund"], ["pay", "refund"])(inStack(stack, "Together"));
  perOperation(["pay"], [])(inStack(stack, "Elsewhere"));
  const [data, shop] = [inStack(stack, "Data"), inStack(stack, "Shop")];
  const table = new IdempotencyTable(data, "Table", { outbox: true, tableName: "records" });
  const destinations = { pay: [new Queue(data, "Payments")] };
  new OutboxRelay(data, "Outbox", { table, destinations });
  const known = IdempotencyTable.fromTableAttributes(shop, "Known", {
    tableName: "records",
    tableStreamArn: table.table.tableStreamArn as string,
  });
  runner(shop, { id: "pay", table: known, commits: true });
  runner(shop, { id: "look", table: known });
  new IdempotencyMonitoring(shop, "Monitoring", {
    table: known,
    service: "shop",
    operations: ["pay", "look"],
  });
  // Operations of elsewhere may run on a table of elsewhere.
  const imported = IdempotencyTable.fromTableName(shop, "Imported", "ledger");
  runner(shop, { id: "post", table: imported });
  new IdempotencyMonitoring(shop, "Ledger", { table: imported, service: "ledger", operations: ["close"] });
  for (const name of ["Beta", "Prod"]) {
    const stage = new Stage(stack.node.root, name, {
      env: { ...ENV, region: `eu-${name === "Beta" ? "west-2" : "west-3"}` },
    });
    perOperation([name], [name])(new Stack(stage, "Shop"));
  }
}

function inNetworks(stack: Stack): void {
  const { vpc, vpcSubnets, endpoint } = isolated(stack);
  const destinations = [new Queue(stack, "To"), new Topic(stack, "Topic"), new EventBus(stack, "Bus")];
  const { SQS, SNS, EVENTBRIDGE } = InterfaceVpcEndpointAwsService;
  const table = tableIn(stack, { outbox: true, tableName: "shop-records" });
  const queues = vpc.addInterfaceEndpoint("Queues", { service: SQS });
  queues.addToPolicy(allow(["sqs:*"], [(destinations[0] as Queue).queueArn]));
  vpc.addInterfaceEndpoint("Topics", { service: SNS });
  vpc.addInterfaceEndpoint("Events", { service: EVENTBRIDGE }).addToPolicy(allow(["*"], ["*"]));
  endpoint.addToPolicy(allow(["dynamodb:*Item", "dynamodb:Query"], ["arn:aws:dynamodb:*:*:table/shop-*"]));
  endpoint.addToPolicy(allow(["dynamodb:*"], [Fn.importValue("LedgerArn")]));
  new OutboxRelay(stack, "Outbox", { table, destinations, vpc, vpcSubnets });
  runner(stack, { id: "Committing", table, commits: true, fn: { vpc, vpcSubnets } });
  runner(stack, { id: "Importing", fn: { vpc, vpcSubnets } });
  const outer = new Vpc(inStack(stack, "Outer"), "Vpc", {
    natGateways: 1,
    availabilityZones: ["eu-west-1a"],
    gatewayEndpoints: { Tables: { service: GatewayVpcEndpointAwsService.DYNAMODB } },
  });
  const own = Stack.of(outer);
  const named = new IdempotencyTable(own, "Table", { outbox: true });
  const to = [new Queue(own, "To")];
  const subnets = { subnetType: SubnetType.PRIVATE_WITH_EGRESS };
  new OutboxRelay(own, "Outbox", { table: named, destinations: to, vpc: outer, vpcSubnets: subnets });
}

export const NEIGHBOURS_OF_RELAYS: readonly SetUp[] = [
  ["relays whose parts are changed and still get everything", changedRelays],
  ["destinations and alarms by operation, in several stacks and stages", perOperations],
  ["endpoints with policies, and destinations behind endpoints or a NAT gateway", inNetworks],
];

import { Duration, Fn, RemovalPolicy, Stack, Stage } from "aws-cdk-lib";
import { LambdaIntegration, RestApi } from "aws-cdk-lib/aws-apigateway";
import {
  AttributeType,
  ProjectionType,
  StreamViewType,
  TableEncryptionV2,
  TableV2,
} from "aws-cdk-lib/aws-dynamodb";
import {
  CfnSecurityGroupEgress,
  GatewayVpcEndpointAwsService,
  InterfaceVpcEndpointAwsService,
  Peer,
  Port,
  SecurityGroup,
  SubnetType,
  Vpc,
} from "aws-cdk-lib/aws-ec2";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { SqsQueue } from "aws-cdk-lib/aws-events-targets";
import { Role } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import {
  CfnEventSourceMapping,
  FilterCriteria,
  FilterRule,
  Function as LambdaFunction,
  StartingPosition,
} from "aws-cdk-lib/aws-lambda";
import { DynamoEventSource, SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { Topic } from "aws-cdk-lib/aws-sns";
import { SqsSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { DedupQueue, IdempotencyMonitoring, IdempotencyTable, OutboxRelay } from "onceonly/cdk";
import { describe, expect, it, test } from "vitest";
import { MISCONFIGURATIONS, misconfigurationsPage } from "./cases/all.ts";
import { ENV, runner, saidOf, tableIn, type Verdict } from "./given.ts";

/** What each verdict looks like. A warning may come with a note, and a refusal is CDK's or ours. */
const SAID: Readonly<Record<Verdict, ReturnType<typeof saidOf>["verdict"]>> = {
  refused: "refused",
  "refused by CDK": "refused",
  warned: "warned",
  noted: "noted",
  accepted: "nothing",
};

function queued(stack: Stack): void {
  const table = tableIn(stack, { outbox: true });
  const queue = new DedupQueue(stack, "Queue");
  queue.addConsumer(runner(stack, { table, commits: true }));
  new OutboxRelay(stack, "Outbox", { table, destinations: [queue.queue] });
}

function singleTable(stack: Stack): void {
  const encryptionKey = new Key(stack, "Key", { enableKeyRotation: true });
  const own = new TableV2(stack, "Own", {
    partitionKey: { name: "PK", type: AttributeType.STRING },
    sortKey: { name: "SK", type: AttributeType.STRING },
    timeToLiveAttribute: "ttl",
    dynamoStream: StreamViewType.NEW_AND_OLD_IMAGES,
    encryption: TableEncryptionV2.customerManagedKey(encryptionKey),
    globalSecondaryIndexes: [
      {
        indexName: "outbox",
        partitionKey: { name: "unsentShard", type: AttributeType.NUMBER },
        sortKey: { name: "unsentSince", type: AttributeType.NUMBER },
        projectionType: ProjectionType.KEYS_ONLY,
      },
    ],
  });
  const table = IdempotencyTable.fromTableAttributes(stack, "Table", {
    tableName: own.tableName,
    tableStreamArn: own.tableStreamArn as string,
    encryptionKey,
    partitionKey: "PK",
    sortKey: { name: "SK", value: "onceonly" },
    ttlAttribute: "ttl",
  });
  runner(stack, { table, commits: true });
  new OutboxRelay(stack, "Outbox", { table, destinations: [new Queue(stack, "To")] });
}

/** Everything that leads to DynamoDB, and each sender that a FIFO queue takes. */
function inNetworks(stack: Stack): void {
  const inner = (id: string, natGateways: number) => {
    const subnetType = natGateways > 0 ? SubnetType.PRIVATE_WITH_EGRESS : SubnetType.PRIVATE_ISOLATED;
    const subnetConfiguration = [
      { name: "Inner", subnetType },
      { name: "Outer", subnetType: SubnetType.PUBLIC },
    ];
    return new Vpc(stack, id, { natGateways, availabilityZones: ["eu-west-1a"], subnetConfiguration });
  };
  const withGateway = inner("WithGateway", 0);
  withGateway.addGatewayEndpoint("Endpoint", { service: GatewayVpcEndpointAwsService.DYNAMODB });
  const withInterface = inner("WithInterface", 0);
  withInterface.addInterfaceEndpoint("Endpoint", { service: InterfaceVpcEndpointAwsService.DYNAMODB });
  for (const vpc of [withGateway, withInterface, inner("WithNat", 1)]) {
    const vpcSubnets = { subnets: vpc.isolatedSubnets.length > 0 ? vpc.isolatedSubnets : vpc.privateSubnets };
    runner(stack, { id: `${vpc.node.id}Fn`, fn: { vpc, vpcSubnets } });
  }
}

function fedQueue(stack: Stack): void {
  const queue = new DedupQueue(stack, "Queue", { contentBasedDeduplication: true });
  queue.addConsumer(runner(stack, { retention: Duration.days(90) }));
  new Topic(stack, "Topic", { fifo: true, topicName: "orders.fifo" }).addSubscription(
    new SqsSubscription(queue.queue),
  );
  new Rule(stack, "Rule", { eventPattern: { source: ["shop"] } }).addTarget(
    new SqsQueue(queue.queue, { messageGroupId: "orders" }),
  );
}

/** The same names in two regions and two stages mean different things. */
function inTwoRegions(stack: Stack): void {
  for (const region of ["eu-west-1", "eu-west-2"]) {
    const isFar = region === "eu-west-2";
    const stage = new Stage(stack.node.root, region, { env: { ...ENV, region } });
    const [own, other] = [new Stack(stage, "Own"), new Stack(stage, "Other")];
    if (!isFar) runner(own, { retention: Duration.days(1), fn: { functionName: "pay" } });
    else runner(own, { fn: { functionName: "pay" } });
    if (!isFar) continue;
    const role = Role.fromRoleArn(other, "Role", "arn:aws:iam::111111111111:role/pay");
    const functionArn = `arn:aws:lambda:${region}:111111111111:function:pay`;
    const fn = LambdaFunction.fromFunctionAttributes(other, "Fn", { functionArn, role });
    fn.addEventSource(new SqsEventSource(new Queue(other, "Queue"), { reportBatchItemFailures: true }));
  }
}

/** Two stages for accounts that are known at deployment only, with one name for what each has. */
function inTwoStages(stack: Stack): void {
  for (const id of ["Beta", "Prod"]) {
    const stage = new Stage(stack.node.root, id);
    const [own, other] = [new Stack(stage, "Own"), new Stack(stage, "Other")];
    const attributes = {
      tableName: "records",
      tableStreamArn: "arn:aws:dynamodb:eu-west-1:1:table/records/stream/1",
    };
    const table = IdempotencyTable.fromTableAttributes(own, "Table", attributes);
    new OutboxRelay(own, "Outbox", { table, destinations: [new Queue(own, "To")] });
    const retention = Duration.days(id === "Beta" ? 1 : 60);
    runner(own, { table, retention, operations: ["pay"], fn: { functionName: "pay" } });
    new DedupQueue(own, "Named", { queueName: `${Fn.importValue("prefix")}.fifo` });
    if (id === "Beta") continue;
    const fn = LambdaFunction.fromFunctionName(other, "Fn", "pay");
    for (const functionName of [fn.functionName, "pay"]) {
      const { queueArn: eventSourceArn, node } = new Queue(other, `Queue${functionName.length}`);
      const functionResponseTypes = ["ReportBatchItemFailures"];
      new CfnEventSourceMapping(other, `Mapping${node.id}`, {
        eventSourceArn,
        functionName,
        functionResponseTypes,
      });
    }
  }
}

function answeredAtOnce(stack: Stack): void {
  const requestParameters = { "integration.request.header.X-Amz-Invocation-Type": "'Event'" };
  const fn = runner(stack, { fn: { timeout: Duration.seconds(60) } });
  new RestApi(stack, "Api").root.addMethod(
    "POST",
    new LambdaIntegration(fn, { proxy: false, requestParameters }),
  );
}

/** Nothing is lost: EventBridge retries, or keeps what it gives up, and may use the key. */
function dispatched(stack: Stack): void {
  const schedule = Schedule.rate(Duration.hours(1));
  const dead = new Queue(stack, "Dead", { retentionPeriod: Duration.days(14) });
  const deadLetterQueue = { queue: dead, maxReceiveCount: 5 };
  const queue = new Queue(stack, "Queue", { encryptionMasterKey: new Key(stack, "Key"), deadLetterQueue });
  const fn = runner(stack, { fn: { reservedConcurrentExecutions: 10, deadLetterQueue: dead } });
  const provisionedPollerConfig = { minimumPollers: 2, maximumPollers: 10 };
  fn.addEventSource(new SqsEventSource(queue, { reportBatchItemFailures: true, provisionedPollerConfig }));
  const targets = [new SqsQueue(queue), new SqsQueue(queue, { retryAttempts: 0, deadLetterQueue: dead })];
  new Rule(stack, "Rule", { schedule, targets });
}

/** HTTPS is let out by a rule of the group, or by a rule of its own. */
function inClosedGroups(stack: Stack): void {
  const vpc = new Vpc(stack, "Vpc", { natGateways: 1, availabilityZones: ["eu-west-1a"] });
  for (const id of ["Inline", "Own"]) {
    const group = new SecurityGroup(stack, `${id}Group`, { vpc, allowAllOutbound: false });
    if (id === "Inline") group.addEgressRule(Peer.anyIpv4(), Port.tcp(443));
    else {
      new CfnSecurityGroupEgress(stack, "Egress", {
        groupId: group.securityGroupId,
        ipProtocol: "tcp",
        fromPort: 0,
        toPort: 65_535,
        cidrIp: "0.0.0.0/0",
      });
    }
    runner(stack, { id, fn: { vpc, securityGroups: [group] } });
  }
}

function watchedByToken(stack: Stack): void {
  const table = IdempotencyTable.fromTableArn(stack, "Table", Fn.importValue("TableArn"));
  runner(stack, { table });
  new IdempotencyMonitoring(stack, "Monitoring", { table });
}

/** Imports that bring their keys, and keys that go only with their data. */
function keyed(stack: Stack): void {
  const encryptionKey = new Key(stack, "Key");
  new DedupQueue(stack, "Own", { queueName: "orders.fifo", encryptionKey });
  const queueArn = "arn:aws:sqs:eu-west-1:111111111111:orders.fifo";
  const queue = DedupQueue.fromQueueArn(stack, "Queue", queueArn, encryptionKey);
  const table = tableIn(stack, { outbox: true, encryptionKey });
  new OutboxRelay(stack, "Outbox", { table, destinations: [queue.queue] });
  const removalPolicy = RemovalPolicy.DESTROY;
  const short = new Key(stack, "Short", { removalPolicy });
  runner(stack, { table: new IdempotencyTable(stack, "Ephemeral", { encryptionKey: short, removalPolicy }) });
}

/** A single table: the records are left out by the filter. */
function filtered(stack: Stack): void {
  const table = tableIn(stack, { outbox: true });
  const source = new DynamoEventSource(table.table, {
    startingPosition: StartingPosition.LATEST,
    reportBatchItemFailures: true,
    filters: [FilterCriteria.filter({ dynamodb: { NewImage: { orderId: { S: FilterRule.exists() } } } })],
  });
  runner(stack, { table }).addEventSource(source);
}

/** Stages of accounts of their own, or without one, may use one name. */
function namedInStages(stack: Stack): void {
  const accounts = [undefined, undefined, "222222222222", "333333333333"];
  for (const [index, account] of accounts.entries()) {
    const env = account === undefined ? {} : { account, region: "eu-west-1" };
    const own = new Stack(new Stage(stack.node.root, `Stage${index}`, { env }), "Shop");
    runner(own, { table: tableIn(own, { tableName: "records" }) });
    new DedupQueue(own, "Queue", { queueName: "orders.fifo" });
  }
}

describe("a synthesis", () => {
  it.each<[string, (stack: Stack) => unknown]>([
    ["a function and its table", (stack) => runner(stack, { table: tableIn(stack) })],
    ["a queue, its consumer and a relay that feeds it", queued],
    ["a single table with a customer key and key names of its own", singleTable],
    ["functions in VPCs with a way to DynamoDB", inNetworks],
    ["a FIFO topic and a rule with a group before a queue", fedQueue],
    ["one name in two regions", inTwoRegions],
    ["one name in two stages", inTwoStages],
    ["a REST API that does not wait", answeredAtOnce],
    ["imports with their keys, and keys that go only with their data", keyed],
    ["rules, schedules and pollers that lose nothing", dispatched],
    ["security groups that let HTTPS out", inClosedGroups],
    ["alarms on a table that is imported by a token ARN", watchedByToken],
    ["a function that reads the stream of its own table through a filter", filtered],
    ["tables and queues of one name in stages that may be of several accounts", namedInStages],
  ])("says nothing of what is right: %s", (_, make) => {
    expect(saidOf(make)).toEqual({ verdict: "nothing", texts: [] });
  });

  it.each(MISCONFIGURATIONS)("$number: says of $wrong: $verdict", ({ verdict, by, make }) => {
    const said = saidOf(make);

    expect(said).toMatchObject({ verdict: SAID[verdict] });
    if (verdict !== "accepted") expect(said.texts.join("\n")).toContain(by);
  });
});

describe("docs/use/misconfigurations.md", () => {
  it("has every misconfiguration", async () => {
    await expect(misconfigurationsPage()).toMatchFileSnapshot("../../../docs/use/misconfigurations.md");
  });

  test("at least 160 are tried, and at most 25 accepted, each with its reason", () => {
    const accepted = MISCONFIGURATIONS.filter(({ verdict }) => verdict === "accepted");

    expect(MISCONFIGURATIONS.length).toBeGreaterThanOrEqual(160);
    expect(accepted.length).toBeLessThanOrEqual(25);
    expect(new Set(accepted.map(({ by }) => by)).size).toBeGreaterThan(15);
  });

  test("none is listed twice", () => {
    const wrong = MISCONFIGURATIONS.map((each) => `${each.number[0]} ${each.wrong}`);
    expect(wrong).toEqual([...new Set(wrong)]);
  });
});

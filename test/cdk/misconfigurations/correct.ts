// Apps with nothing wrong: a synthesis says nothing of them, and neither does the doctor.
import { Duration, Fn, RemovalPolicy, type Stack } from "aws-cdk-lib";
import { LambdaIntegration, RestApi } from "aws-cdk-lib/aws-apigateway";
import { HttpApi, HttpMethod } from "aws-cdk-lib/aws-apigatewayv2";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
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
import { Key } from "aws-cdk-lib/aws-kms";
import { FilterCriteria, FilterRule, StartingPosition } from "aws-cdk-lib/aws-lambda";
import { DynamoEventSource, SnsEventSource, SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { Topic } from "aws-cdk-lib/aws-sns";
import { SqsSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { Queue } from "aws-cdk-lib/aws-sqs";
import {
  DedupQueue,
  IdempotencyMonitoring,
  IdempotencyTable,
  OutboxRelay,
  UseIdempotency,
  UseStartOnce,
} from "onceonly/cdk";
import { aFunction } from "../given.ts";
import { NEIGHBOURS_OF_KEYS } from "./cases/neighbours.ts";
import { NEIGHBOURS_OF_RELAYS } from "./cases/relay-neighbours.ts";
import { CORRECT_STACKS, reconciled } from "./cases/several-stacks.ts";
import { fedByOutbox } from "./cases/windows-given.ts";
import { runner, tableIn } from "./given.ts";

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

function besideAnOutbox(stack: Stack): void {
  const table = tableIn(stack, { outbox: true, unknownOutcomes: true });
  new OutboxRelay(stack, "Outbox", { table, destinations: [new Queue(stack, "To")] });
  runner(stack, { table, commits: true });
  reconciled(stack, table);
}

/** A function without a timeout has 3 s. */
function behindHttp(stack: Stack): void {
  const integration = new HttpLambdaIntegration("Integration", runner(stack));
  new HttpApi(stack, "Api").addRoutes({ path: "/orders", methods: [HttpMethod.POST], integration });
}

function outlivingItsApi(stack: Stack): void {
  const fn = runner(stack, { outlivesGateway: true, fn: { timeout: Duration.minutes(5) } });
  const integration = new HttpLambdaIntegration("Integration", fn);
  new HttpApi(stack, "Api").addRoutes({ path: "/orders", methods: [HttpMethod.POST], integration });
}

/** A batch of one fails or succeeds as a whole. */
function oneByOne(stack: Stack): void {
  const dead = new Queue(stack, "Dead", { retentionPeriod: Duration.days(14) });
  const queue = new Queue(stack, "Queue", { deadLetterQueue: { queue: dead, maxReceiveCount: 5 } });
  runner(stack).addEventSource(new SqsEventSource(queue, { batchSize: 1 }));
}

/** Beside the relay one more function may read the stream of a table. */
function readTwice(stack: Stack): void {
  const table = tableIn(stack, { outbox: true });
  new OutboxRelay(stack, "Outbox", { table, destinations: [new Queue(stack, "To")] });
  const source = { startingPosition: StartingPosition.LATEST, reportBatchItemFailures: true };
  aFunction(stack, "Search").addEventSource(new DynamoEventSource(table.table, source));
  runner(stack, { table, commits: true });
}

function otherExpiry(stack: Stack): void {
  const own = new TableV2(stack, "Own", {
    partitionKey: { name: "pk", type: AttributeType.STRING },
    timeToLiveAttribute: "ttl",
  });
  const { tableName } = own;
  runner(stack, {
    table: IdempotencyTable.fromTableAttributes(stack, "Table", { tableName, ttlAttribute: "ttl" }),
  });
}

const pinned = (stack: Stack) =>
  runner(stack, {
    table: tableIn(stack, { replicas: [{ region: "eu-central-1" }], keysPinnedToRegion: true }),
  });

export const CORRECT: readonly (readonly [title: string, make: (stack: Stack) => unknown])[] = [
  ["a function and its table", (stack) => runner(stack, { table: tableIn(stack) })],
  ["a queue, its consumer and a relay that feeds it", queued],
  ["a single table with a customer key and key names of its own", singleTable],
  ["functions in VPCs with a way to DynamoDB", inNetworks],
  ["a FIFO topic and a rule with a group before a queue", fedQueue],
  ["a REST API that does not wait", answeredAtOnce],
  ["imports with their keys, and keys that go only with their data", keyed],
  ["rules, schedules and pollers that lose nothing", dispatched],
  ["security groups that let HTTPS out", inClosedGroups],
  ["alarms on a table that is imported by a token ARN", watchedByToken],
  ["a function that reads the stream of its own table through a filter", filtered],
  ["a reconciler beside an outbox", besideAnOutbox],
  ["a function without a timeout behind an HTTP API", behindHttp],
  ["a function that may outlive its API", outlivingItsApi],
  ["a queue whose batches have one message", oneByOne],
  ["a second reader of the stream", readTwice],
  ["a table with another TTL attribute", otherExpiry],
  ["replicas, and keys that are pinned to a region", pinned],
  [
    "a retention of ten years",
    (stack) => runner(stack, { retention: Duration.days(3650), allowLongRetention: true }),
  ],
  ["a client that repeats for ten days", (stack) => runner(stack, { clientWindow: Duration.days(10) })],
  ...CORRECT_STACKS,
  ["a retention that covers an outbox before a queue", (stack) => fedByOutbox(stack, Duration.days(14))],
  [
    "a retention that covers a queue before which no outbox is",
    (stack) => {
      const queue = new Queue(stack, "Queue", { retentionPeriod: Duration.days(10) });
      const source = new SqsEventSource(queue, { reportBatchItemFailures: true });
      runner(stack, { retention: Duration.days(12) }).addEventSource(source);
    },
  ],
  [
    "a `DedupQueue` and its consumer, with the defaults of both",
    (stack) => {
      const fn = aFunction(stack, "Fn", { timeout: Duration.seconds(29) });
      fn.with(new UseIdempotency(new IdempotencyTable(stack, "Table"), { operations: ["pay"] }));
      new DedupQueue(stack, "Queue").addConsumer(fn);
    },
  ],
  [
    "a dispatcher that a `DedupQueue` feeds, and a durable function that runs operations",
    (stack) => {
      const durableConfig = { executionTimeout: Duration.days(30), retentionPeriod: Duration.days(19) };
      const start = aFunction(stack, "Start", { timeout: Duration.seconds(29) });
      start.with(new UseStartOnce(runner(stack, { id: "Fulfil", fn: { durableConfig } }).addAlias("live")));
      new DedupQueue(stack, "Queue").addConsumer(start);
    },
  ],
  [
    "a retention that covers a topic before which no outbox is",
    (stack) =>
      runner(stack, { retention: Duration.days(25) }).addEventSource(
        new SnsEventSource(new Topic(stack, "Orders")),
      ),
  ],
  ...NEIGHBOURS_OF_KEYS,
  ...NEIGHBOURS_OF_RELAYS,
];

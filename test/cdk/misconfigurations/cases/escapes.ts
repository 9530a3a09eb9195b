import { CfnParameter, Duration, CfnResource as PlainResource, Stack } from "aws-cdk-lib";
import { AttributeType, type CfnGlobalTable, StreamViewType, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { type CfnFunction, Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { Topic } from "aws-cdk-lib/aws-sns";
import { LambdaSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { type CfnQueue, Queue } from "aws-cdk-lib/aws-sqs";
import { IdempotencyTable, OutboxRelay, UseIdempotency } from "onceonly/cdk";
import { aFunction } from "../../given.ts";
import { ENV, type Misconfiguration, refused, runner, tableIn, warned } from "../given.ts";

const seconds = (count: number) => Duration.seconds(count);
const eventsOf = (queue: Queue) => new SqsEventSource(queue, { reportBatchItemFailures: true });
const resourceOf = ({ node }: LambdaFunction) => node.defaultChild as CfnFunction;
const elsewhere = (stack: Stack) => new Stack(stack.node.root, "Other", { env: ENV });

/** A consumer whose function is overridden afterwards. */
const overridden =
  (name: string, value: unknown) =>
  (stack: Stack): void => {
    const fn = runner(stack);
    fn.addEventSource(eventsOf(new Queue(stack, "Queue")));
    resourceOf(fn).addPropertyOverride(name, value);
  };

const onTable =
  (name: string, value: unknown) =>
  (stack: Stack): void => {
    const table = tableIn(stack, { outbox: true });
    new OutboxRelay(stack, "Outbox", { table, destinations: [new Queue(stack, "To")] });
    (table.table.node.defaultChild as CfnGlobalTable).addPropertyOverride(name, value);
  };

/** A function of a day that another stack knows by its name. */
const named =
  (build: (other: Stack, fn: ReturnType<typeof LambdaFunction.fromFunctionName>) => unknown, days = 1) =>
  (stack: Stack): void => {
    runner(stack, { retention: Duration.days(days), fn: { functionName: "pay" } });
    const other = elsewhere(stack);
    build(other, LambdaFunction.fromFunctionName(other, "Fn", "pay"));
  };

/** What the template says in the end counts, and not what a construct was given. */
export const ESCAPES: readonly Misconfiguration[] = [
  refused(
    "an override of a visibility timeout",
    "visibility timeout 2 s of Test/Queue < timeout 3 s",
    (stack) => {
      const queue = new Queue(stack, "Queue");
      runner(stack).addEventSource(eventsOf(queue));
      (queue.node.defaultChild as CfnQueue).addPropertyOverride("VisibilityTimeout", 2);
    },
  ),
  refused("an override of a function's timeout", "< timeout 900 s of Test/Fn", overridden("Timeout", 900)),
  refused("a timeout that is set on the CloudFormation resource", "< timeout 900 s of Test/Fn", (stack) => {
    const fn = runner(stack);
    fn.addEventSource(eventsOf(new Queue(stack, "Queue")));
    resourceOf(fn).timeout = 900;
  }),
  refused("an override of a runtime", "runs on nodejs18.x", overridden("Runtime", "nodejs18.x")),
  refused(
    "an override of a variable that handlers read",
    "to a different value than",
    overridden("Environment.Variables.IDEMPOTENCY_TABLE", "mine"),
  ),
  warned(
    "an override of the reserved concurrency",
    "onceonly:no-concurrency",
    overridden("ReservedConcurrentExecutions", 0),
  ),
  warned("an override of `ReportBatchItemFailures`", "onceonly:no-batch-failures", (stack) => {
    const fn = runner(stack);
    fn.addEventSource(eventsOf(new Queue(stack, "Queue")));
    const mappings = fn.node.findAll().filter(PlainResource.isCfnResource);
    const mapping = mappings.find(({ cfnResourceType }) => cfnResourceType.endsWith("EventSourceMapping"));
    mapping?.addPropertyOverride("FunctionResponseTypes", []);
  }),
  refused("an event source mapping as a resource without a type", "< timeout 60 s of Test/Fn", (stack) => {
    const { functionName: FunctionName } = runner(stack, { fn: { timeout: seconds(60) } });
    const { queueArn: EventSourceArn } = new Queue(stack, "Queue");
    const properties = { FunctionName, EventSourceArn };
    new PlainResource(stack, "Mapping", { type: "AWS::Lambda::EventSourceMapping", properties });
  }),
  warned(
    "an override that switches TTL off",
    "onceonly:no-expiry",
    onTable("TimeToLiveSpecification.Enabled", false),
  ),
  refused(
    "an override of the TTL attribute",
    'expires items by the attribute "ttl"',
    onTable("TimeToLiveSpecification.AttributeName", "ttl"),
  ),
  refused(
    "an override of the stream's view",
    "a relay reads messages from new images",
    onTable("StreamSpecification.StreamViewType", "KEYS_ONLY"),
  ),
  refused("a stream that is deleted", "has no stream", onTable("StreamSpecification", undefined)),
  refused(
    "a queue that feeds a function referenced by its name",
    "retention 86400 s < 345720 s",
    named((other, fn) => fn.addEventSource(eventsOf(new Queue(other, "Queue")))),
  ),
  warned(
    "a topic that feeds a function referenced by its name",
    "onceonly:sns-window",
    named((other, fn) => new Topic(other, "Topic").addSubscription(new LambdaSubscription(fn)), 2),
  ),
  refused("a queue of the app that is imported by its ARN", "345600 s in Other/Queue", (stack) => {
    new Queue(elsewhere(stack), "Queue", { queueName: "orders" });
    const arn = "arn:aws:sqs:eu-west-1:111111111111:orders";
    const source = new SqsEventSource(Queue.fromQueueArn(stack, "Given", arn), {
      reportBatchItemFailures: true,
    });
    runner(stack, { retention: Duration.days(1) }).addEventSource(source);
  }),
  refused("a table of the app with another key, by its name", "has the key PK", (stack) => {
    const partitionKey = { name: "PK", type: AttributeType.STRING };
    new TableV2(stack, "Own", { tableName: "shop", partitionKey, timeToLiveAttribute: "expiresAt" });
    IdempotencyTable.fromTableAttributes(stack, "Table", { tableName: "shop" });
  }),
  refused("two relays on one table, one of which references it by its name", "both send from", (stack) => {
    const table = tableIn(stack, { outbox: true, tableName: "shop" });
    const { tableStreamArn } = table.table;
    const again = { tableName: "shop", ...(tableStreamArn !== undefined && { tableStreamArn }) };
    const other = IdempotencyTable.fromTableAttributes(stack, "Given", again);
    for (const each of [table, other]) {
      const destinations = [new Queue(stack, `To${each.node.id}`)];
      new OutboxRelay(stack, `Outbox${each.node.id}`, { table: each, destinations });
    }
  }),
  warned(
    "two functions with the same operation on a table that is imported twice",
    "onceonly:shared-operation",
    (stack) => {
      const { tableName } = tableIn(stack).table;
      for (const id of ["One", "Two"]) {
        const table = IdempotencyTable.fromTableAttributes(stack, `Given${id}`, { tableName });
        runner(stack, { id, table, operations: ["pay"] });
      }
    },
  ),
  refused(
    "a stream with keys only, of a table referenced by its name",
    "reads messages from new images",
    (stack) => {
      new TableV2(stack, "Own", {
        tableName: "shop",
        partitionKey: { name: "pk", type: AttributeType.STRING },
        timeToLiveAttribute: "expiresAt",
        dynamoStream: StreamViewType.KEYS_ONLY,
      });
      const tableStreamArn = "arn:aws:dynamodb:eu-west-1:111111111111:table/shop/stream/1";
      IdempotencyTable.fromTableAttributes(stack, "Table", { tableName: "shop", tableStreamArn });
    },
  ),
  refused(
    "a number of shards that is only known at deployment",
    "only known at deployment: use a whole number",
    (stack) => {
      const outboxShards = new CfnParameter(stack, "Shards", { type: "Number" }).valueAsNumber;
      tableIn(stack, { outbox: true, outboxShards });
    },
  ),
  refused("a mixin on a function whose table name is set elsewhere", "to a different value than", (stack) => {
    const fn = aFunction(stack, "Fn", { environment: { IDEMPOTENCY_TABLE: "shop" } });
    fn.with(new UseIdempotency(tableIn(stack), { operations: ["pay"] }));
  }),
];

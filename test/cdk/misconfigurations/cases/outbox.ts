import { Duration, Stack } from "aws-cdk-lib";
import { AttributeType, StreamViewType, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import {
  Alias,
  Code,
  EventSourceMapping,
  type FunctionOptions,
  type IFunction,
  Function as LambdaFunction,
  Runtime,
  StartingPosition,
} from "aws-cdk-lib/aws-lambda";
import { DynamoEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { Queue } from "aws-cdk-lib/aws-sqs";
import {
  IdempotencyTable,
  type IIdempotencyTable,
  OutboxRelay,
  type OutboxRelayProps,
  Reconciler,
} from "onceonly/cdk";
import { aFunction } from "../../given.ts";
import {
  accepted,
  ENV,
  type Misconfiguration,
  refused,
  refusedByCdk,
  runner,
  tableIn,
  warned,
} from "../given.ts";

const withOutbox = (stack: Stack, props = {}) => tableIn(stack, { outbox: true, ...props });
const to = (stack: Stack, id = "To") => new Queue(stack, id);
const relay =
  (props: Partial<OutboxRelayProps>, table = {}) =>
  (stack: Stack) =>
    new OutboxRelay(stack, "Outbox", {
      table: withOutbox(stack, table),
      destinations: [to(stack)],
      ...props,
    });
const streamArn = "arn:aws:dynamodb:eu-west-1:111111111111:table/records/stream/1";
const imported = (stack: Stack, id: string, tableName = "records") =>
  IdempotencyTable.fromTableAttributes(stack, id, { tableName, tableStreamArn: streamArn });

/** A table of the same app with other keys. */
const onOwnKeys =
  (props: Partial<OutboxRelayProps>, hasSortKey = true) =>
  (stack: Stack) => {
    const key = (name: string) => ({ name, type: AttributeType.STRING });
    const own = new TableV2(stack, "Own", {
      partitionKey: key("PK"),
      ...(hasSortKey && { sortKey: key("SK") }),
      dynamoStream: StreamViewType.NEW_IMAGE,
      timeToLiveAttribute: "expiresAt",
    });
    const { tableName, tableStreamArn } = own;
    const table = IdempotencyTable.fromTableAttributes(stack, "Table", {
      tableName,
      tableStreamArn: tableStreamArn as string,
    });
    new OutboxRelay(stack, "Outbox", { table, destinations: [to(stack)], ...props });
  };
const NOTHING_SENT = "nothing would be sent. Give it the partitionKey";

/** A function of the app that reads the stream of the table with the rights of a relay. */
function ownRelay(stack: Stack, table: IIdempotencyTable): LambdaFunction {
  const fn = aFunction(stack, "OwnRelay");
  fn.addEventSource(
    new DynamoEventSource(table.table, { startingPosition: StartingPosition.TRIM_HORIZON, retryAttempts: 5 }),
  );
  table.grantRelay(fn);
  return fn;
}

export const OUTBOXES: readonly Misconfiguration[] = [
  refused("a relay on a table without an outbox", "outbox of Test/Table is off", (stack) => {
    new OutboxRelay(stack, "Outbox", { table: tableIn(stack), destinations: [to(stack)] });
  }),
  refused("a relay without destinations", "Test/Outbox has no destinations", relay({ destinations: [] })),
  refused("an empty object of destinations", "Test/Outbox has no destinations", relay({ destinations: {} })),
  refused(
    "an operation with an empty list of destinations",
    "has no destination for pay",
    relay({ destinations: { pay: [] } }),
  ),
  refused("a destination for an operation without a name", 'are for the operation ""', (stack) =>
    relay({ destinations: { "": [to(stack, "Other")] } })(stack),
  ),
  refused("a destination for an operation with too long a name", "1 to 64 characters", (stack) =>
    relay({ destinations: { ["a".repeat(65)]: [to(stack, "Other")] } })(stack),
  ),
  refused("a destination for one operation, added to destinations for all", "and one for pay only", (stack) =>
    relay({})(stack).addDestination(to(stack, "Other"), "pay"),
  ),
  refused(
    "a destination for all operations, added to destinations per operation",
    "and one without any",
    (stack) => {
      const destinations = { pay: [to(stack, "Payments")] };
      relay({ destinations })(stack).addDestination(to(stack, "Other"));
    },
  ),
  refused("two relays on one table", "Test/Second and Test/First both send from Test/Table", (stack) => {
    const table = withOutbox(stack);
    new OutboxRelay(stack, "First", { table, destinations: [to(stack)] });
    new OutboxRelay(stack, "Second", { table });
  }),
  refused("two relays on a table that is imported twice", "both send from", (stack) => {
    new OutboxRelay(stack, "First", { table: imported(stack, "One"), destinations: [to(stack)] });
    new OutboxRelay(stack, "Second", { table: imported(stack, "Two") });
  }),
  refused("two relays on one table, in two stacks", "both send from", (stack) => {
    const table = withOutbox(stack);
    const other = new Stack(stack.node.root, "Other", { env: ENV });
    new OutboxRelay(stack, "First", { table, destinations: [to(stack)] });
    new OutboxRelay(other, "Second", { table });
  }),
  refused("a table with other key attributes", NOTHING_SENT, onOwnKeys({})),
  refused(
    "a table with other key attributes, whose sort key is forgotten",
    NOTHING_SENT,
    onOwnKeys({ partitionKey: "PK" }),
  ),
  refused(
    "a sort key that the table doesn't have",
    NOTHING_SENT,
    onOwnKeys({ partitionKey: "PK", sortKey: { name: "SK", value: "ONCE" } }, false),
  ),
  refused(
    "other key attributes for a table with onceonly's own",
    "has the key pk, but Test/Outbox looks for PK",
    relay({ partitionKey: "PK" }),
  ),
  refused(
    "fewer shards than the table",
    "messages in the other shards would never be found",
    relay({ shards: 4 }),
  ),
  refused("no shards", "shards of Test/Outbox is 0: use a whole number", relay({ shards: 0 })),
  refused("half a shard", "shards of Test/Outbox is 8.5: use a whole number", relay({ shards: 8.5 })),
  refused("a FIFO queue for changes that the relay gives up on", "Test/GivenUp, a FIFO queue", (stack) =>
    relay({ onFailureQueue: new Queue(stack, "GivenUp", { fifo: true }) })(stack),
  ),
  refused(
    "a record age that is longer than streams keep records",
    "keeps changes for 86400 s",
    relay({ maxRecordAge: Duration.hours(25) }),
  ),
  refused(
    "a table of another region",
    "in eu-west-2 that name refers to a different table, or to none",
    (stack) => {
      const other = new Stack(stack.node.root, "Other", { env: { ...ENV, region: "eu-west-2" } });
      new OutboxRelay(other, "Outbox", { table: withOutbox(stack), destinations: [to(other)] });
    },
  ),
  refusedByCdk(
    "a record age of less than a minute",
    "60 seconds",
    relay({ maxRecordAge: Duration.seconds(59) }),
  ),
  refusedByCdk("more than 10000 retries", "between 0 and 10000", relay({ retryAttempts: 10_001 })),
  refusedByCdk("batches of more than 10000", "between 1 and 10000", relay({ batchSize: 20_000 })),
  refusedByCdk(
    "a sweep interval of less than a minute",
    "minute",
    relay({ sweepInterval: Duration.seconds(30) }),
  ),
  warned(
    "several batches of one shard at the same time",
    "onceonly:parallel-shard",
    relay({ parallelizationFactor: 2 }),
  ),
  warned(
    "a relay without concurrency",
    "onceonly:no-concurrency",
    relay({ reservedConcurrentExecutions: 0 }),
  ),
  accepted(
    "finite retries, and no failure destination",
    "the sweeper sends what the relay gives up on, and the alarms report it",
    relay({ retryAttempts: 1, maxRecordAge: Duration.minutes(5) }),
  ),
  accepted(
    "a sweep once a day",
    "messages that the stream lost wait for it, which the alarms `outbox-lag` and `outbox-age` report",
    relay({ sweepInterval: Duration.days(1) }),
  ),
  accepted(
    "a timeout of a second",
    "each run sends what it can, and the next one continues",
    relay({ timeout: Duration.seconds(1) }),
  ),
  warned("sweeps that can overlap", "onceonly:overlapping-runs", relay({ timeout: Duration.minutes(2) })),
  warned("a relay with two mappings to the same stream", "onceonly:second-relay", (stack) => {
    const table = withOutbox(stack);
    const options = { startingPosition: StartingPosition.LATEST, retryAttempts: 5 };
    new EventSourceMapping(stack, "Again", {
      target: ownRelay(stack, table),
      eventSourceArn: table.table.tableStreamArn as string,
      ...options,
    });
  }),
  warned("a second relay that the app makes itself", "onceonly:second-relay", (stack) => {
    const table = withOutbox(stack);
    new OutboxRelay(stack, "Outbox", { table, destinations: [to(stack)] });
    ownRelay(stack, table);
  }),
];

const withUnknown = (stack: Stack) => tableIn(stack, { unknownOutcomes: true });
const asking = (stack: Stack, options: FunctionOptions = {}) =>
  aFunction(stack, "Fn", { timeout: Duration.minutes(1), ...options });
const settling = (stack: Stack, table: IIdempotencyTable, handler: IFunction) =>
  new Reconciler(stack, "Reconciler", { table, handler });

export const RECONCILERS: readonly Misconfiguration[] = [
  refused("a table without the index", "unknownOutcomes of Test/Table is off", (stack) => {
    new Reconciler(stack, "Reconciler", { table: tableIn(stack), handler: aFunction(stack) });
  }),
  warned("a function with too little time for `verify`", "onceonly:reconciler-timeout", (stack) => {
    const table = tableIn(stack, { unknownOutcomes: true });
    new Reconciler(stack, "Reconciler", { table, handler: aFunction(stack) });
  }),
  refusedByCdk("an interval of less than a minute", "minute", (stack) => {
    const table = tableIn(stack, { unknownOutcomes: true });
    const handler = aFunction(stack, "Fn", { timeout: Duration.minutes(1) });
    new Reconciler(stack, "Reconciler", { table, handler, interval: Duration.seconds(30) });
  }),
  warned("two reconcilers for one table", "onceonly:second-reconciler", (stack) => {
    const table = tableIn(stack, { unknownOutcomes: true });
    for (const id of ["One", "Two"]) {
      const handler = aFunction(stack, `${id}Fn`, { timeout: Duration.minutes(1) });
      new Reconciler(stack, id, { table, handler });
    }
  }),
  accepted(
    "the index, and no reconciler",
    "the next call settles a key, and an operator can list the rest",
    (stack) => runner(stack, { table: tableIn(stack, { unknownOutcomes: true }) }),
  ),
  refused(
    "a table of another region",
    "in eu-west-1 that name refers to a different table, or to none",
    (stack) => {
      const tableArn = "arn:aws:dynamodb:us-east-1:111111111111:table/records";
      const attributes = { tableArn, unknownOutcomes: true };
      settling(stack, IdempotencyTable.fromTableAttributes(stack, "Table", attributes), asking(stack));
    },
  ),
  warned("an alias, whose function has no variable", "onceonly:no-environment", (stack) => {
    const { currentVersion: version } = asking(stack);
    settling(stack, withUnknown(stack), new Alias(stack, "Live", { aliasName: "live", version }));
  }),
  refused("a function in Python", "Test/Fn runs on python3.13", (stack) =>
    settling(
      stack,
      withUnknown(stack),
      new LambdaFunction(stack, "Fn", {
        runtime: Runtime.PYTHON_3_13,
        handler: "index.handler",
        code: Code.fromInline("x"),
        timeout: Duration.minutes(1),
      }),
    ),
  ),
  warned("a function without concurrency", "onceonly:no-concurrency", (stack) =>
    settling(stack, withUnknown(stack), asking(stack, { reservedConcurrentExecutions: 0 })),
  ),
  warned("runs that can overlap", "onceonly:overlapping-runs", (stack) =>
    settling(stack, withUnknown(stack), asking(stack, { timeout: Duration.minutes(2) })),
  ),
];

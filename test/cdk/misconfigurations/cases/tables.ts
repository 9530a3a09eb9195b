import { Duration, RemovalPolicies, RemovalPolicy, Stack, Stage } from "aws-cdk-lib";
import {
  AttributeType,
  type CfnGlobalTable,
  CfnTable,
  InputFormat,
  MultiRegionConsistency,
  StreamViewType,
  Table,
  TableEncryptionV2,
  TableV2,
} from "aws-cdk-lib/aws-dynamodb";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Alias, Key } from "aws-cdk-lib/aws-kms";
import { Bucket, EventType } from "aws-cdk-lib/aws-s3";
import { LambdaDestination } from "aws-cdk-lib/aws-s3-notifications";
import { IdempotencyTable, OutboxRelay } from "onceonly/cdk";
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

const PK = { name: "pk", type: AttributeType.STRING };
const replicas = [{ region: "eu-central-1" }];
const tableArn = "arn:aws:dynamodb:eu-west-1:111111111111:table/records";
const restoredAt = new Date("2026-01-01T00:00:00Z");
const aRole = (stack: Stack) =>
  new Role(stack, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
const imported = (stack: Stack, attributes: object) =>
  IdempotencyTable.fromTableAttributes(stack, "Table", { tableArn, ...attributes });

/** A table of the same app, imported as if it were one of ours. */
const ofApp =
  ({ encryption = "", ttl = "expiresAt", key = "pk", view = StreamViewType.NEW_IMAGE }) =>
  (stack: Stack) => {
    const own = new TableV2(stack, "Own", {
      partitionKey: { name: key, type: AttributeType.STRING },
      timeToLiveAttribute: ttl,
      dynamoStream: view,
      ...(encryption && { encryption: TableEncryptionV2.customerManagedKey(new Key(stack, "Key")) }),
    });
    IdempotencyTable.fromTableAttributes(stack, "Table", {
      tableName: own.tableName,
      tableStreamArn: own.tableStreamArn as string,
    });
  };

export const TABLES: readonly Misconfiguration[] = [
  refused("two tables with the same name", "are both named records", (stack) => {
    tableIn(stack, { tableName: "records" });
    new IdempotencyTable(stack, "Other", { tableName: "records" });
  }),
  refused("a table with the name of a plain table", "are both named records", (stack) => {
    new CfnTable(stack, "Plain", {
      tableName: "records",
      keySchema: [{ attributeName: "pk", keyType: "HASH" }],
    });
    tableIn(stack, { tableName: "records" });
  }),
  refused("the same name in two stages of one account and region", "are both named records", (stack) => {
    for (const id of ["Beta", "Prod"]) {
      const own = new Stack(new Stage(stack.node.root, id, { env: ENV }), "Shop");
      new IdempotencyTable(own, "Table", { tableName: "records" });
    }
    tableIn(stack);
  }),
  refused(
    "deletion protection on a table that is deleted with its stack",
    "deletionProtection of Test/Table is true and its removalPolicy is destroy",
    (stack) => tableIn(stack, { deletionProtection: true, removalPolicy: RemovalPolicy.DESTROY }),
  ),
  refused(
    "`RemovalPolicies.of(stack).destroy()` over a protected table",
    "deletionProtection of Test/Table is true and its removalPolicy is destroy",
    (stack) => {
      tableIn(stack);
      RemovalPolicies.of(stack).destroy();
    },
  ),
  refused("strong consistency between regions", "multiRegionConsistency of Test/Table is STRONG", (stack) =>
    tableIn(stack, { multiRegionConsistency: MultiRegionConsistency.STRONG, replicas }),
  ),
  refused("replicas, and keys in any region", "2 callers can win the same key", (stack) =>
    tableIn(stack, { replicas }),
  ),
  refused("a replica that is added later", "2 callers can win the same key", (stack) =>
    tableIn(stack).table.addReplica({ region: "eu-central-1" }),
  ),
  refused("an outbox on a table with replicas", "outbox of Test/Table is on in 2 regions", (stack) =>
    tableIn(stack, { replicas, outbox: true, keysPinnedToRegion: true }),
  ),
  refusedByCdk("a replica in the table's own region", "same region as the primary table", (stack) =>
    tableIn(stack, { replicas: [{ region: "eu-west-1" }], keysPinnedToRegion: true }),
  ),
  refused(
    "a customer key in a stack without a region",
    "a key belongs to one region and the stack has none",
    (stack) => {
      const nowhere = new Stack(stack.node.root, "Nowhere");
      tableIn(nowhere, { encryptionKey: new Key(nowhere, "Key") });
    },
  ),
  refused(
    "a customer key, and a replica without one",
    "replicaKeyArns has no key for eu-central-1",
    (stack) => tableIn(stack, { replicas, keysPinnedToRegion: true, encryptionKey: new Key(stack, "Key") }),
  ),
  refused(
    "shards of an outbox that is off",
    "outboxShards of Test/Table is 4, but the table has no outbox",
    (stack) => tableIn(stack, { outboxShards: 4 }),
  ),
  refused("no shards", "outboxShards of Test/Table is 0: use a whole number", (stack) =>
    tableIn(stack, { outbox: true, outboxShards: 0 }),
  ),
  refused("thousands of shards", "use a whole number from 1 to 1000", (stack) =>
    tableIn(stack, { outbox: true, outboxShards: 5000 }),
  ),
  refused("a `restoredAt` that isn't a date", "restoredAt of Test/Table is an invalid Date", (stack) =>
    tableIn(stack, { restoredAt: new Date("yesterday") }),
  ),
  refused("a grant on a restored table, without an end", "doesn't know what ran since its backup", (stack) =>
    tableIn(stack, { restoredAt }).grantIdempotency(aRole(stack), { operations: ["pay"] }),
  ),
  refused("a restored table, and a source whose window isn't known", "can't be computed", (stack) => {
    const fn = runner(stack, { table: tableIn(stack, { restoredAt }) });
    new Bucket(stack, "Bucket").addEventNotification(EventType.OBJECT_CREATED, new LambdaDestination(fn));
  }),
  refused("a relay on a restored table", "would resend messages that were sent after its backup", (stack) => {
    new OutboxRelay(stack, "Outbox", { table: tableIn(stack, { restoredAt, outbox: true }) });
  }),
  accepted(
    "no point-in-time recovery",
    "a restored table has lost the records since its backup, so restoring helps little",
    (stack) => tableIn(stack, { pointInTimeRecovery: false }),
  ),
  accepted(
    "a table that is deleted with its stack",
    "DESTROY is a deliberate choice, for test and preview stacks",
    (stack) => tableIn(stack, { removalPolicy: RemovalPolicy.DESTROY }),
  ),
  accepted(
    "a table without deletion protection",
    "the table is retained, and the app has switched this off deliberately",
    (stack) => tableIn(stack, { deletionProtection: false }),
  ),
  accepted("a cap of one write a second", "a throttled call doesn't run, and never runs twice", (stack) =>
    tableIn(stack, { maxWriteRequestUnits: 1 }),
  ),
  refused("a `restoredAt` in seconds", "Date expects milliseconds, not seconds", (stack) =>
    tableIn(stack, { restoredAt: new Date(1_767_225_600) }),
  ),
  refused("a key that is referenced by its alias", "CDK grants nothing on an alias", (stack) => {
    const encryptionKey = Alias.fromAliasName(stack, "Key", "alias/shop");
    runner(stack, { table: tableIn(stack, { encryptionKey }) });
  }),
  warned("a table that another account may replicate", "onceonly:replicated-table", (stack) => {
    tableIn(stack).table.grants.multiAccountReplicationTo(
      "arn:aws:dynamodb:eu-west-1:222222222222:table/theirs",
    );
  }),
];

export const IMPORTED_TABLES: readonly Misconfiguration[] = [
  warned("a table of the app without TTL", "onceonly:no-expiry", (stack) => {
    const { tableName } = new TableV2(stack, "Own", { partitionKey: PK });
    IdempotencyTable.fromTableAttributes(stack, "Table", { tableName });
  }),
  refused(
    "a table of the app whose customer key the grant doesn't know",
    "doesn't know it, so no grant includes it",
    ofApp({ encryption: "key" }),
  ),
  refused(
    "a table of the app with a different TTL attribute",
    "no record would be deleted",
    ofApp({ ttl: "ttl" }),
  ),
  refused(
    "a table of the app with a different key",
    "has the key PK, but Test/Table is declared with pk",
    ofApp({ key: "PK" }),
  ),
  refused(
    "a table of the app whose stream has keys only",
    "a relay reads messages from new images",
    ofApp({ view: StreamViewType.KEYS_ONLY }),
  ),
  refused(
    "the name of a table of the app in another region",
    "in eu-west-1 that name refers to a different table",
    (stack) => {
      const far = new Stack(stack.node.root, "Far", { env: { ...ENV, region: "eu-west-2" } });
      runner(stack, { table: tableIn(far, { tableName: "records" }) });
    },
  ),
  refusedByCdk("a name and an ARN", "Only one of", (stack) => imported(stack, { tableName: "records" })),
  refusedByCdk("neither a name nor an ARN", "At least one of", (stack) =>
    imported(stack, { tableArn: undefined }),
  ),
  refused("a relay's rights on a table without a stream", "outbox of Test/Table is off", (stack) =>
    imported(stack, {}).grantRelay(aRole(stack)),
  ),
  refused("a sweeper's rights on a table without a stream", "outbox of Test/Table is off", (stack) =>
    imported(stack, {}).grantSweeper(aRole(stack)),
  ),
  refused("shards of a table without a stream", "but the table has no outbox", (stack) =>
    imported(stack, { outboxShards: 8 }),
  ),
  refused("no shards", "outboxShards of Test/Table is 0", (stack) =>
    imported(stack, { tableStreamArn: `${tableArn}/stream/1`, outboxShards: 0 }),
  ),
  refused("a `restoredAt` that isn't a date", "restoredAt of Test/Table is an invalid Date", (stack) =>
    imported(stack, { restoredAt: new Date("yesterday") }),
  ),
  refused("the rights of a reconciler without the index", "unknownOutcomes of Test/Table is off", (stack) =>
    imported(stack, {}).grantResolving(aRole(stack)),
  ),
  refused(
    "a table of another region",
    "in eu-west-1 that name refers to a different table, or to none",
    (stack) => {
      const table = imported(stack, { tableArn: tableArn.replace("eu-west-1", "eu-west-2") });
      runner(stack, { table, retention: Duration.days(1) });
    },
  ),
  accepted(
    "a table of another account",
    "it's referenced by its ARN, and its own policy decides",
    (stack) => {
      runner(stack, { table: imported(stack, { tableArn: tableArn.replace("1111", "2222") }) });
    },
  ),
  warned("a table of the app with replicas", "onceonly:replicated-table", (stack) => {
    const own = new TableV2(stack, "Own", { partitionKey: PK, timeToLiveAttribute: "expiresAt", replicas });
    IdempotencyTable.fromTableAttributes(stack, "Table", { tableName: own.tableName });
  }),
  warned("a replica of a table in another account", "onceonly:replicated-table", (stack) => {
    const own = new TableV2(stack, "Own", { partitionKey: PK, timeToLiveAttribute: "expiresAt" });
    const source = "arn:aws:dynamodb:eu-west-1:222222222222:table/theirs";
    (own.node.defaultChild as CfnGlobalTable).addPropertyOverride("GlobalTableSourceArn", source);
    IdempotencyTable.fromTableAttributes(stack, "Table", { tableName: own.tableName });
  }),
  warned("a table of the app that another account may replicate", "onceonly:replicated-table", (stack) => {
    const own = new TableV2(stack, "Own", { partitionKey: PK, timeToLiveAttribute: "expiresAt" });
    own.grants.multiAccountReplicationTo("arn:aws:dynamodb:eu-west-1:222222222222:table/theirs");
    IdempotencyTable.fromTableAttributes(stack, "Table", { tableName: own.tableName });
  }),
  warned("a table that is filled from S3", "onceonly:imported-items", (stack) => {
    const importSource = { bucket: new Bucket(stack, "Items"), inputFormat: InputFormat.dynamoDBJson() };
    const own = new Table(stack, "Own", { partitionKey: PK, timeToLiveAttribute: "expiresAt", importSource });
    IdempotencyTable.fromTableAttributes(stack, "Table", { tableName: own.tableName });
  }),
  refused("a table of the app with strong consistency", "multiRegionConsistency of Test/Own", (stack) => {
    const multiRegionConsistency = MultiRegionConsistency.STRONG;
    const regions = [...replicas, { region: "eu-west-3" }];
    const own = new TableV2(stack, "Own", { partitionKey: PK, replicas: regions, multiRegionConsistency });
    IdempotencyTable.fromTableAttributes(stack, "Table", { tableName: own.tableName });
  }),
  warned("a table of another account, and commits", "onceonly:far-commits", (stack) => {
    const table = imported(stack, { tableArn: tableArn.replace("1111", "2222") });
    runner(stack, { table, commits: true });
  }),
];

import { CfnParameter, Duration, Fn, Stack, Stage } from "aws-cdk-lib";
import { AttributeType, MultiRegionConsistency, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { Repository } from "aws-cdk-lib/aws-ecr";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  Alias,
  ApplicationLogLevel,
  type CfnFunction,
  CfnWebFunction,
  Code,
  type FunctionOptions,
  Handler,
  Function as LambdaFunction,
  LoggingFormat,
  CfnFunction as PlainFunction,
  Runtime,
  SingletonFunction,
  StartingPosition,
} from "aws-cdk-lib/aws-lambda";
import { DynamoEventSource, type DynamoEventSourceProps } from "aws-cdk-lib/aws-lambda-event-sources";
import { Bucket } from "aws-cdk-lib/aws-s3";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { AwsCustomResource, AwsCustomResourcePolicy, PhysicalResourceId } from "aws-cdk-lib/custom-resources";
import {
  type CommitAction,
  CommitGrants,
  IdempotencyTable,
  IdempotentFunction,
  OutboxRelay,
  UseIdempotency,
} from "onceonly/cdk";
import { aFunction } from "../../given.ts";
import {
  accepted,
  ENV,
  type Misconfiguration,
  noted,
  ofItem,
  refused,
  runner,
  tableIn,
  warned,
} from "../given.ts";

const code = Code.fromInline("exports.handler = () => {}");
const zipIn = (stack: Stack) => Code.fromBucket(Bucket.fromBucketName(stack, "Code", "code"), "code.zip");
const on = (runtime: Runtime) => (stack: Stack) =>
  new LambdaFunction(stack, "Fn", { runtime, handler: "index.handler", code }).with(use(stack));
const use = (stack: Stack) => new UseIdempotency(tableIn(stack), { operations: ["pay"] });
const fnArn = "arn:aws:lambda:eu-west-1:111111111111:function:pay";
const PK = { name: "id", type: AttributeType.STRING };
const aRole = (stack: Stack) =>
  new Role(stack, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
const rows = (stack: Stack) => CommitGrants.fromTable(new TableV2(stack, "Rows", { partitionKey: PK }));
const granted = (options: object, props?: object) => (stack: Stack) =>
  tableIn(stack, props).grantIdempotency(aRole(stack), options);

export const FUNCTIONS: readonly Misconfiguration[] = [
  refused("`UseIdempotency` on a table", "in which is no Lambda function", (stack) => {
    const table = tableIn(stack);
    table.with(new UseIdempotency(table));
  }),
  refused("`UseIdempotency` on a queue", "in which is no Lambda function", (stack) =>
    new Queue(stack, "Queue").with(use(stack)),
  ),
  refused("`UseIdempotency` on a stack without functions", "in which is no Lambda function", (stack) =>
    stack.with(use(stack)),
  ),
  refused("`applyTo` on a table", "Test/Table is not a Lambda function", (stack) => {
    const table = tableIn(stack);
    new UseIdempotency(table).applyTo(table);
  }),
  refused("`UseIdempotency` twice", "Test/Fn has UseIdempotency already", (stack) =>
    runner(stack).with(use(stack)),
  ),
  warned("`UseIdempotency` on an alias", "onceonly:no-environment", (stack) => {
    const { currentVersion: version } = aFunction(stack);
    new Alias(stack, "Live", { aliasName: "live", version }).with(use(stack));
  }),
  warned("`UseIdempotency` on a version", "onceonly:no-environment", (stack) =>
    aFunction(stack).currentVersion.with(use(stack)),
  ),
  warned("`UseIdempotency` on an imported function", "onceonly:no-environment", (stack) =>
    LambdaFunction.fromFunctionArn(stack, "Fn", fnArn).with(use(stack)),
  ),
  warned("`UseIdempotency` on a singleton function", "onceonly:no-environment", (stack) =>
    new SingletonFunction(stack, "Fn", {
      uuid: "u",
      runtime: Runtime.NODEJS_24_X,
      handler: "index.handler",
      code,
    }).with(use(stack)),
  ),
  warned("`UseIdempotency` on the relay", "onceonly:no-environment", (stack) => {
    const table = tableIn(stack, { outbox: true });
    const { relay } = new OutboxRelay(stack, "Outbox", { table, destinations: [new Queue(stack, "To")] });
    relay.with(new UseIdempotency(table, { operations: ["pay"] }));
  }),
  noted("`UseIdempotency` on a stack in which a function has it already", "onceonly:left-alone", (stack) => {
    runner(stack);
    stack.with(use(stack));
  }),
  noted("`UseIdempotency` on a stack with functions of CDK's own", "onceonly:left-alone", (stack) => {
    aFunction(stack);
    new AwsCustomResource(stack, "Custom", {
      onUpdate: { service: "S3", action: "listBuckets", physicalResourceId: PhysicalResourceId.of("b") },
      policy: AwsCustomResourcePolicy.fromSdkCalls({ resources: ["arn:aws:s3:::b"] }),
      installLatestAwsSdk: false,
    });
    stack.with(use(stack));
  }),
  warned("Node.js 20, which Lambda has deprecated", "onceonly:deprecated-runtime", on(Runtime.NODEJS_20_X)),
  noted("a web function of Lambda", "onceonly:left-alone", (stack) => {
    new CfnWebFunction(stack, "Web", { functionName: "web" });
    runner(stack);
    stack.with(use(stack));
  }),
  refused("Node.js 18", "runs on nodejs18.x: onceonly needs Node.js 20", on(Runtime.NODEJS_18_X)),
  refused("Node.js 16", "runs on nodejs16.x: onceonly needs Node.js 20", on(Runtime.NODEJS_16_X)),
  refused("Python", "runs on python3.13: onceonly needs Node.js 20", on(Runtime.PYTHON_3_13)),
  refused("Java", "runs on java21: onceonly needs Node.js 20", (stack) => {
    const assets = zipIn(stack);
    new LambdaFunction(stack, "Fn", { runtime: Runtime.JAVA_21, handler: "a", code: assets }).with(
      use(stack),
    );
  }),
  accepted("a custom runtime", "its contents can't be read at synthesis", (stack) => {
    const assets = zipIn(stack);
    const runtime = Runtime.PROVIDED_AL2023;
    new LambdaFunction(stack, "Fn", { runtime, handler: "a", code: assets }).with(use(stack));
  }),
  accepted("a container image", "its contents can't be read at synthesis", (stack) => {
    const image = Code.fromEcrImage(Repository.fromRepositoryName(stack, "Images", "shop"));
    const settings = { runtime: Runtime.FROM_IMAGE, handler: Handler.FROM_IMAGE, code: image };
    new LambdaFunction(stack, "Fn", settings).with(use(stack));
  }),
  warned("two functions that run one operation of a table", "onceonly:shared-operation", (stack) => {
    const table = tableIn(stack);
    runner(stack, { table, id: "One", operations: ["pay"] });
    runner(stack, { table, id: "Two", operations: ["pay"] });
  }),
  warned("a reserved concurrency of 0", "onceonly:no-concurrency", (stack) =>
    runner(stack, { fn: { reservedConcurrentExecutions: 0 } }),
  ),
  noted(
    "Lambda Managed Instances, which let code run on after its timeout",
    "onceonly:managed-instances",
    (stack) => {
      const { node } = runner(stack);
      (node.defaultChild as CfnFunction).capacityProviderConfig = {
        lambdaManagedInstancesCapacityProviderConfig: {
          capacityProviderArn: "arn:aws:lambda:eu-west-1:111111111111:capacity-provider:shop",
        },
      };
    },
  ),
  accepted(
    "a handler that gives another `retentionSeconds` than `UseIdempotency`",
    "no synthesis sees it; the handler can read `IDEMPOTENCY_RETENTION_SECONDS`",
    (stack) => runner(stack, { fn: { environment: { RETENTION: "60" } } satisfies FunctionOptions }),
  ),
  refused("a variable of the app's own under a name that handlers read", "with another value than", (stack) =>
    runner(stack, { fn: { environment: { IDEMPOTENCY_TABLE: "mine" } } }),
  ),
  refused("such a variable, set afterwards", "with another value than", (stack) =>
    runner(stack).addEnvironment("IDEMPOTENCY_RETENTION_SECONDS", "60"),
  ),
  warned("a durable function", "onceonly:durable-function", (stack) =>
    runner(stack, { fn: { durableConfig: { executionTimeout: Duration.days(30) } } }),
  ),
  noted(
    "`UseIdempotency` on a stack with a function of an included template",
    "onceonly:left-alone",
    (stack) => {
      aFunction(stack);
      const role = "arn:aws:iam::111111111111:role/given";
      new PlainFunction(stack, "Plain", {
        role,
        code: { zipFile: "x" },
        runtime: "nodejs24.x",
        handler: "a.b",
      });
      stack.with(use(stack));
    },
  ),
];

const reading = (props: Partial<DynamoEventSourceProps>) => (stack: Stack) => {
  const table = tableIn(stack, { outbox: true });
  const startingPosition = StartingPosition.LATEST;
  const source = new DynamoEventSource(table.table, {
    startingPosition,
    reportBatchItemFailures: true,
    ...props,
  });
  runner(stack, { table }).addEventSource(source);
};

export const OWN_TABLES: readonly Misconfiguration[] = [
  warned(
    "an `IdempotentFunction` that leaves this package out of its bundle",
    "onceonly:missing-package",
    (stack) => {
      new IdempotentFunction(stack, "Fn", {
        entry: "functions/get-order.ts",
        table: tableIn(stack),
        operations: ["pay"],
        bundling: { externalModules: ["onceonly"] },
      });
    },
  ),
  warned("a function that reads the stream of its own table", "onceonly:own-stream", reading({})),
  warned("a function of one stage on the table of another, by its name", "onceonly:other-stage", (stack) => {
    const [beta, prod] = ["Beta", "Prod"].map(
      (id) => new Stack(new Stage(stack.node.root, id, { env: ENV }), "Shop"),
    ) as [Stack, Stack];
    runner(beta, { table: tableIn(beta, { tableName: "records" }) });
    runner(prod, { table: IdempotencyTable.fromTableName(prod, "Table", "records"), operations: ["other"] });
  }),
];

const logging = (level: ApplicationLogLevel) => (stack: Stack) =>
  runner(stack, { fn: { loggingFormat: LoggingFormat.JSON, applicationLogLevelV2: level } });

export const LOGS = ofItem("H92", [
  noted("a log level that hides warnings", "onceonly:hidden-logs", logging(ApplicationLogLevel.ERROR)),
  noted("a log level of fatal errors only", "onceonly:hidden-logs", logging(ApplicationLogLevel.FATAL)),
]);

export const RIGHTS: readonly Misconfiguration[] = [
  warned("a function with the records of every operation", "onceonly:operations-unfenced", (stack) =>
    aFunction(stack).with(new UseIdempotency(tableIn(stack))),
  ),
  warned("a role with the records of every operation", "onceonly:operations-unfenced", granted({})),
  refused(
    "a `scopeTag` without operations",
    "scopeTag is tenant and operations is not given",
    granted({ scopeTag: "tenant" }),
  ),
  refused("no operations in the list", "operations is empty", granted({ operations: [] })),
  refused("an operation without a name", "operations holds an empty name", granted({ operations: [""] })),
  refused(
    "a list of operations that is known at deployment only",
    "operations is a list that is only known at deployment",
    (stack) => granted({ operations: Fn.split(",", new CfnParameter(stack, "Names").valueAsString) })(stack),
  ),
  refused("a number token in the name of an operation", "use Tokenization.stringifyNumber", (stack) =>
    granted({
      operations: [`pay-${new CfnParameter(stack, "Number", { type: "Number" }).valueAsNumber}`],
    })(stack),
  ),
  refused("a `scopeTag` that is known at deployment only", "scopeTag is only known at deployment", (stack) =>
    granted({ operations: ["pay"], scopeTag: new CfnParameter(stack, "Tag").valueAsString })(stack),
  ),
  refused(
    "a `scopeTag` that no tag can be called",
    "which no tag can be called",
    granted({ operations: ["pay"], scopeTag: "a*b" }),
  ),
  refused(
    "commits of a tenant's session on a table with an outbox",
    "a session of a tenant could have anything sent",
    granted({ operations: ["pay"], scopeTag: "tenant", commits: true }, { outbox: true }),
  ),
  refused(
    "a `closedUntil` that isn't a time",
    "closedUntil is not a date",
    granted({ operations: ["pay"], closedUntil: new Date("tomorrow") }),
  ),
  refused(
    "a `closedUntil` that is a string",
    "closedUntil is a string and not a Date",
    granted({ operations: ["pay"], closedUntil: "2026-01-31T12:00Z" }),
  ),
  refused("`CommitGrants` with a misspelt action", "dynamodb:PutItems is granted", (stack) =>
    rows(stack).actions(aRole(stack), "dynamodb:PutItems" as CommitAction),
  ),
  refused("`CommitGrants` with an action that no transaction has", "dynamodb:Scan is granted", (stack) =>
    rows(stack).actions(aRole(stack), "dynamodb:Scan" as CommitAction),
  ),
  refused("`CommitGrants` without actions", "nothing is granted", (stack) =>
    rows(stack).actions(aRole(stack)),
  ),
  refused("the rights of a reconciler without the index", "unknownOutcomes of Test/Table is off", (stack) =>
    tableIn(stack).grantResolving(aRole(stack)),
  ),
  refused("the rights of a relay without an outbox", "outbox of Test/Table is off", (stack) =>
    tableIn(stack).grantRelay(aRole(stack)),
  ),
  accepted(
    "no `commits` for a handler that commits messages",
    "the store refuses them before any write, since it reads `IDEMPOTENCY_OUTBOX`, and so does IAM",
    (stack) => runner(stack, { table: tableIn(stack, { outbox: true }), commits: false }),
  ),
  accepted(
    "an operation that no handler runs",
    "IAM refuses the handler's requests: nothing runs, and nothing runs twice",
    (stack) => runner(stack, { operations: ["misspelt"] }),
  ),
  accepted(
    "CDK's `grantReadWriteData` beside ours",
    "the app's own decision, which its reviewers see",
    (stack) => {
      const table = tableIn(stack);
      table.table.grantReadWriteData(runner(stack, { table, retention: Duration.days(1) }));
    },
  ),
  accepted("a role that cannot be changed", "IAM refuses the handler's requests: nothing runs", (stack) => {
    const arn = "arn:aws:iam::111111111111:role/given";
    const role = Role.fromRoleArn(stack, "Given", arn, { mutable: false });
    runner(stack, { fn: { role } });
  }),
  refused("commits to a table of another region", "a transaction is of one account and region", (stack) => {
    const far = "arn:aws:dynamodb:us-east-1:111111111111:table/orders";
    const orders = CommitGrants.fromTable(TableV2.fromTableArn(stack, "Orders", far));
    orders.actions(runner(stack, { commits: true }), "dynamodb:PutItem");
  }),
  refused("commits to a table of another account", "a transaction is of one account and region", (stack) => {
    const far = "arn:aws:dynamodb:eu-west-1:222222222222:table/orders";
    const orders = CommitGrants.fromTable(TableV2.fromTableArn(stack, "Orders", far));
    orders.actions(runner(stack, { commits: true }), "dynamodb:PutItem");
  }),
  refused("commits to a table without transactions", "such a table has no transactions", (stack) => {
    const orders = new TableV2(stack, "Orders", {
      partitionKey: PK,
      replicas: [{ region: "eu-central-1" }, { region: "eu-west-3" }],
      multiRegionConsistency: MultiRegionConsistency.STRONG,
    });
    CommitGrants.fromTable(orders).actions(runner(stack, { commits: true }), "dynamodb:PutItem");
  }),
];

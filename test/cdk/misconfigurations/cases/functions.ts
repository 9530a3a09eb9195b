import { Stack, Stage } from "aws-cdk-lib";
import { Repository } from "aws-cdk-lib/aws-ecr";
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
import { IdempotencyTable, IdempotentFunction, OutboxRelay, UseIdempotency } from "onceonly/cdk";
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

export const FUNCTIONS: readonly Misconfiguration[] = [
  refused("`UseIdempotency` on a table", "which contains no Lambda function", (stack) => {
    const table = tableIn(stack);
    table.with(new UseIdempotency(table));
  }),
  refused("`UseIdempotency` on a queue", "which contains no Lambda function", (stack) =>
    new Queue(stack, "Queue").with(use(stack)),
  ),
  refused("`UseIdempotency` on a stack without functions", "which contains no Lambda function", (stack) =>
    stack.with(use(stack)),
  ),
  refused("`applyTo` on a table", "Test/Table isn't a Lambda function", (stack) => {
    const table = tableIn(stack);
    new UseIdempotency(table).applyTo(table);
  }),
  refused("`UseIdempotency` twice", "Test/Fn already has UseIdempotency", (stack) =>
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
  noted(
    "`UseIdempotency` on a stack in which one function already has it",
    "onceonly:left-alone",
    (stack) => {
      runner(stack);
      stack.with(use(stack));
    },
  ),
  noted(
    "`UseIdempotency` on a stack with functions that CDK creates itself",
    "onceonly:left-alone",
    (stack) => {
      aFunction(stack);
      new AwsCustomResource(stack, "Custom", {
        onUpdate: { service: "S3", action: "listBuckets", physicalResourceId: PhysicalResourceId.of("b") },
        policy: AwsCustomResourcePolicy.fromSdkCalls({ resources: ["arn:aws:s3:::b"] }),
        installLatestAwsSdk: false,
      });
      stack.with(use(stack));
    },
  ),
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
  warned("two functions that run the same operation on one table", "onceonly:shared-operation", (stack) => {
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
    "a handler with a different `retentionSeconds` than `UseIdempotency`",
    "synthesis can't see it; the handler can read `IDEMPOTENCY_RETENTION_SECONDS`",
    (stack) => runner(stack, { fn: { environment: { RETENTION: "60" } } satisfies FunctionOptions }),
  ),
  refused(
    "an environment variable of the app under a name that handlers read",
    "to a different value than",
    (stack) => runner(stack, { fn: { environment: { IDEMPOTENCY_TABLE: "mine" } } }),
  ),
  refused("such an environment variable, set afterwards", "to a different value than", (stack) =>
    runner(stack).addEnvironment("IDEMPOTENCY_RETENTION_SECONDS", "60"),
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
  warned(
    "a function of one stage that uses another stage's table by its name",
    "onceonly:other-stage",
    (stack) => {
      const [beta, prod] = ["Beta", "Prod"].map(
        (id) => new Stack(new Stage(stack.node.root, id, { env: ENV }), "Shop"),
      ) as [Stack, Stack];
      runner(beta, { table: tableIn(beta, { tableName: "records" }) });
      runner(prod, {
        table: IdempotencyTable.fromTableName(prod, "Table", "records"),
        operations: ["other"],
      });
    },
  ),
];

const logging = (level: ApplicationLogLevel) => (stack: Stack) =>
  runner(stack, { fn: { loggingFormat: LoggingFormat.JSON, applicationLogLevelV2: level } });

export const LOGS = ofItem("H92", [
  noted("a log level that hides warnings", "onceonly:hidden-logs", logging(ApplicationLogLevel.ERROR)),
  noted(
    "a log level that shows only fatal errors",
    "onceonly:hidden-logs",
    logging(ApplicationLogLevel.FATAL),
  ),
]);

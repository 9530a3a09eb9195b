// What AWS, PostgreSQL and Kafka decide and onceonly relies on: each fact with its source and when it was last read there.
// To check them again, open each source, correct the code where it has changed, and write the new date.

export interface ExternalFact {
  readonly fact: string;
  readonly source: string;
  /** A day, or a month when all facts of a group were read together. */
  readonly read: string;
  /** Where onceonly says the same: a constant of a file, or a part of a file's text. */
  readonly in: string;
  readonly constant?: readonly [name: string, value: number];
  readonly says?: string;
}

const AWS = "https://docs.aws.amazon.com";

const AUDIT = "2026-11";

/** Where a file stands that is named by its folder in a package. */
const placeOf = (file: string) =>
  file.startsWith("aws/")
    ? `packages/explorer/lib/${file}`
    : file.startsWith("local/")
      ? file.replace("local/", "packages/local/lib/")
      : `lib/${file}`;

type Constant = readonly [file: string, name: string, value: number];
const constants = (read: string, source: string, ...rows: readonly (readonly [string, ...Constant])[]) =>
  rows.map(([fact, file, name, value]): ExternalFact => {
    return { fact, source: `${AWS}/${source}`, read, in: placeOf(file), constant: [name, value] };
  });

const says = (read: string, fact: string, source: string, file: string, text: string): ExternalFact => ({
  fact,
  source: source.startsWith("https:") ? source : `${AWS}/${source}`,
  read,
  in: file,
  says: text,
});

const SUPPORT = "docs/reference/support.md";
const NODE = "https://github.com/nodejs/Release#release-schedule";
const MIDDY = "https://middy.js.org/docs/intro/release-cycle";
/** Read in its repository, at the commit of that day. */
const END_OF_LIFE = "https://endoflife.date";

export const EXTERNAL_FACTS: readonly ExternalFact[] = [
  says(
    "2026-11-27",
    "Node.js 24 ends on 2028-04-30, and so does its Lambda runtime",
    NODE,
    SUPPORT,
    "| 24.21.0 | 2028-04-30 | 2028-07-01 |",
  ),
  says(
    "2026-11-27",
    "Node.js 22 ends on 2027-04-30, and so does its Lambda runtime",
    NODE,
    SUPPORT,
    "| 22.23.3 | 2027-04-30 | 2027-07-01 |",
  ),
  says("2026-11-27", "Node.js 20 ended on 2026-04-30", NODE, SUPPORT, "| 20.20.2 | 2026-04-30 |"),
  says(
    "2026-08-22",
    "Lambda blocks updates of functions on Node.js 20 from 2027-03-03, on 22 from 2027-07-01, on 24 from 2028-07-01",
    `${END_OF_LIFE}/aws-lambda`,
    SUPPORT,
    "until 2027-03-03. The first release after that day requires Node.js 22",
  ),
  says(
    "2026-11-27",
    "the AWS SDK supports a Node.js version for 8 months after its end",
    "https://aws.amazon.com/blogs/developer/aws-sdk-for-javascript-aligns-with-node-js-release-schedule",
    SUPPORT,
    "Releases of the AWS SDK require Node.js 22 from January 2027",
  ),
  says(
    "2026-11-27",
    "Middy 6 ended on 2026-04-30, Middy 7 ends on 2027-04-30",
    MIDDY,
    SUPPORT,
    "6: 2026-04-30, 7: 2027-04-30",
  ),
  says(
    "2026-11-27",
    "the CDK supports a Node.js version for 6 months after its end",
    "cdk/v2/guide/node-versions.html",
    SUPPORT,
    "Node.js 22 until 2027-10-30, Node.js 24 until 2028-10-30",
  ),
  says(
    "2026-08-22",
    "PostgreSQL fixes a version for five years",
    `${END_OF_LIFE}/postgresql`,
    SUPPORT,
    "14: 2026-11-12, 15: 2027-11-11, 16: 2028-11-09, 17: 2029-11-08, 18: 2030-11-14",
  ),
  says(
    "2026-08-22",
    "Valkey's last security fixes",
    `${END_OF_LIFE}/valkey`,
    SUPPORT,
    "7.2: 2029-04-16, 8.0: 2027-09-15, 8.1: 2030-03-31, 9.0: 2028-10-21",
  ),
  says(
    "2026-08-22",
    "Redis Open Source's last security fixes",
    `${END_OF_LIFE}/redis`,
    SUPPORT,
    "6.2: 2027-04-01, 7.2 and 7.4: 2029-12-01, 8.0: 2026-12-01, 8.2: 2030-09-01. 7.0 ended on 2024-07-29",
  ),
  ...constants(
    "2026-11-27",
    "lambda/latest/dg/configuration-timeout.html",
    [
      "an invocation lasts at most 5,400 s (Managed Instances, asynchronous or by a mapping)",
      "contract.ts",
      "LONGEST_INVOCATION_SECONDS",
      5400,
    ],
    [
      "a function has 3 s unless it says otherwise",
      "cdk/rules/functions.ts",
      "LAMBDA_DEFAULT_TIMEOUT_SECONDS",
      3,
    ],
  ),
  ...constants("2026-11-27", "sns/latest/dg/large-message-payloads.html", [
    "a topic accepts 256 KiB by default, a batch in all as much",
    "messaging/sqs-and-sns.ts",
    "SNS_MAX_BYTES",
    262_144,
  ]),
  says(
    "2026-11-27",
    "MaximumMessageSize of a topic goes from 1,024 to 1,048,576 bytes",
    "sns/latest/dg/large-message-payloads.html",
    "packages/explorer/lib/aws/sns/sns-model.ts",
    "bytes < 1024 || bytes > 1_048_576",
  ),
  says(
    "2026-11-27",
    "Kafka's failed records are read (ReportBatchItemFailures) in provisioned mode only",
    "lambda/latest/dg/kafka-retry-configurations.html",
    "lib/cdk/rules/deliveries.ts",
    "with ReportBatchItemFailures, which Lambda only supports for Kafka in provisioned mode",
  ),
  says(
    "2026-11-27",
    "the answer to a batch of a tumbling window must have the window's state, or it counts as a failure",
    "lambda/latest/dg/services-kinesis-windows.html",
    "lib/lambda/batch/read-event.ts",
    "Lambda treats a response without `state` as a failure",
  ),
  says(
    "2026-11-27",
    "a durable execution's name with the same payload returns the existing execution; another payload is refused",
    "lambda/latest/dg/durable-execution-idempotency.html",
    "docs/reference/unknown-outcomes.md",
    "returns the execution that exists, and refuses the name with another payload",
  ),
  says(
    "2026-11-27",
    "without a qualifier durable executions of all versions are listed (the description in @aws-sdk/client-lambda 3.1162)",
    "lambda/latest/api/API_ListDurableExecutionsByFunction.html",
    "lib/reconciler/verifiers/durable-execution-started.ts",
    "@default - all versions",
  ),
  ...constants(
    AUDIT,
    "AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html",
    ["a message, and a batch, has at most 1 MiB", "messaging/sqs-and-sns.ts", "SQS_MAX_BYTES", 1_048_576],
    ["a batch has 10 entries", "messaging/destination-queue.ts", "MAX_ENTRIES", 10],
    ["a message has 10 attributes", "aws/sqs/message-checks.ts", "MAX_ATTRIBUTES", 10],
    ["a message is hidden for 12 hours at most", "aws/sqs/visibility.ts", "MAX_VISIBILITY_SECONDS", 43_200],
    ["a message is delayed by 15 minutes at most", "aws/sqs/accept-message.ts", "MAX_DELAY_SECONDS", 900],
    [
      "a FIFO queue remembers a deduplication id for 5 minutes",
      "aws/sqs/deduplication-window.ts",
      "DEDUPLICATION_WINDOW_MS",
      300_000,
    ],
    ["120,000 messages are in flight at most", "aws/sqs/sqs-model.ts", "MAX_IN_FLIGHT", 120_000],
  ),
  ...constants(
    AUDIT,
    "AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html",
    ["maxReceiveCount is at most 1,000", "aws/sqs/redrive-policy.ts", "MAX_RECEIVE_COUNT", 1000],
    ["maxReceiveCount is 10 unless it is given", "aws/sqs/redrive-policy.ts", "DEFAULT_RECEIVE_COUNT", 10],
  ),
  ...constants(
    AUDIT,
    "amazondynamodb/latest/developerguide/Constraints.html",
    ["an item has 400 KB", "dynamodb/values.ts", "MAX_ITEM_BYTES", 409_600],
    ["a transaction has 100 actions", "dynamodb/join-commits.ts", "MAX_ACTIONS", 100],
    ["a number has 38 digits", "aws/dynamodb/values/decimal.ts", "MAX_DIGITS", 38],
    ["values nest 32 levels deep", "aws/dynamodb/values/read-value.ts", "MAX_DEPTH", 32],
    ["a partition key has 2,048 bytes", "aws/dynamodb/tables/key-values.ts", "MAX_PARTITION_KEY_BYTES", 2048],
    ["a sort key has 1,024 bytes", "aws/dynamodb/tables/key-values.ts", "MAX_SORT_KEY_BYTES", 1024],
    ["BatchGetItem reads 100 items", "dynamodb/grouped-looks.ts", "MAX_LOOKS", 100],
    ["BatchExecuteStatement has 25 statements", "dynamodb/grouped-statements.ts", "MAX_STATEMENTS", 25],
    ["a stream keeps records for 24 hours", "aws/dynamodb/streams/stream.ts", "RETENTION_MS", 86_400_000],
    ["two readers of one stream are safe", "cdk/rules/deliveries.ts", "MAX_STREAM_READERS", 2],
  ),
  ...constants(
    AUDIT,
    "amazondynamodb/latest/APIReference/API_TransactWriteItems.html",
    [
      "a request token is remembered for 10 minutes",
      "aws/dynamodb/writes/transaction-tokens.ts",
      "MEMORY_MS",
      600_000,
    ],
    ["a request token has 36 characters", "aws/dynamodb/writes/transaction-tokens.ts", "MAX_LENGTH", 36],
  ),
  ...constants(
    AUDIT,
    "apigateway/latest/developerguide/limits.html",
    ["an HTTP API waits 30 s", "cdk/rules/gateways.ts", "HTTP_API_MS", 30_000],
    ["a REST API waits 29 s by default", "cdk/rules/gateways.ts", "REST_API_MS", 29_000],
    ["a WebSocket API waits 29 s", "cdk/rules/gateways.ts", "WEBSOCKET_MS", 29_000],
  ),
  ...constants(AUDIT, "general/latest/gr/appsync.html", [
    "AppSync waits 30 s",
    "cdk/rules/gateways.ts",
    "GRAPHQL_MS",
    30_000,
  ]),
  ...constants(AUDIT, "cognito/latest/developerguide/cognito-user-pools-working-with-lambda-triggers.html", [
    "a user pool waits 5 s for its triggers, custom senders excepted",
    "cdk/rules/gateways.ts",
    "USER_POOL_SECONDS",
    5,
  ]),
  ...constants(AUDIT, "elasticloadbalancing/latest/application/edit-load-balancer-attributes.html", [
    "a load balancer waits 60 s by default",
    "cdk/rules/gateways.ts",
    "LOAD_BALANCER_SECONDS",
    60,
  ]),
  ...constants(AUDIT, "AmazonCloudFront/latest/DeveloperGuide/DownloadDistValuesOrigin.html", [
    "CloudFront waits 30 s for an origin by default",
    "cdk/rules/gateways.ts",
    "ORIGIN_SECONDS",
    30,
  ]),
  ...constants(AUDIT, "lambda/latest/dg/invocation-async-error-handling.html", [
    "an asynchronous event is kept for 6 hours",
    "cdk/rules/windows/asynchronous.ts",
    "MAX_EVENT_AGE",
    21_600,
  ]),
  ...constants(AUDIT, "step-functions/latest/dg/redrive-executions.html", [
    "an execution can be redriven for 14 days",
    "cdk/rules/windows/step-functions.ts",
    "REDRIVE_SECONDS",
    1_209_600,
  ]),
  ...constants(
    AUDIT,
    "lambda/latest/dg/gettingstarted-limits.html",
    ["a batch has 6 MB", "aws/event-sources/queue-batch.ts", "MAX_PAYLOAD_BYTES", 6_291_456],
    ["initialization has 10 s", "local/lambda/function-host.ts", "INIT_LIMIT_MS", 10_000],
  ),
  says(
    AUDIT,
    "Lambda deprecated Node.js 20 on 2026-04-30; no function is created on it from 2027-02-01",
    "lambda/latest/dg/lambda-runtimes.html",
    "lib/cdk/rules/functions.ts",
    "deprecated on 2026-04-30: it can't be created from 2027-02-01",
  ),
  says(
    AUDIT,
    "a CloudWatch dimension's value has 1 to 1,024 characters, but aws-cdk-lib 2.276 refuses more than 255",
    "AmazonCloudWatch/latest/APIReference/API_Dimension.html",
    "lib/contract.ts",
    "CloudWatch accepts 1,024 characters; aws-cdk-lib refuses more than 255",
  ),
  says(
    AUDIT,
    "full jitter of a Step Functions retrier may pick no pause at all",
    "step-functions/latest/dg/concepts-error-handling.html",
    "lib/cdk/rules/windows/step-functions.ts",
    'JitterStrategy === "FULL" ? 0',
  ),
  says(
    AUDIT,
    "Aurora DSQL limits a transaction to 3,000 rows, 10 MiB and 5 minutes",
    "aurora-dsql/latest/userguide/CHAP_quotas.html",
    "docs/reference/stores.md",
    "at most 3,000 rows and 10 MiB in a transaction, which lasts at most 5 minutes",
  ),
  says(
    AUDIT,
    "Aurora DSQL has partial and expression indexes since 2026-09-15",
    "aurora-dsql/latest/userguide/working-with-postgresql-compatibility.html",
    "docs/reference/stores.md",
    "has partial and expression indexes only since September 2026",
  ),
  says(
    AUDIT,
    "RFC 9651 obsoletes RFC 8941",
    "https://www.rfc-editor.org/rfc/rfc9651",
    "lib/client/key.ts",
    "RFC 9651",
  ),
  says(
    AUDIT,
    "PostgreSQL 17 ends a transaction beyond transaction_timeout with 25P04",
    "https://www.postgresql.org/docs/17/errcodes-appendix.html",
    "lib/postgres/failures.ts",
    "25P04",
  ),
];

/** What could not be checked, and why: no source that can be read here says it. */
export const UNCHECKED: readonly string[] = [
  "Kafka share groups behind an event source mapping (`ConsumptionMode: Queue`): order and retries are from the announcement",
  "30 minutes for all event functions: one announcement says so, the developer guide says 15, and 90 on Managed Instances",
  "AWS::EventsV2: retry policy and retention are from the CloudFormation reference as aws-cdk-lib 2.276 carries it",
  "the engines themselves: nothing here ran against an AWS account",
];

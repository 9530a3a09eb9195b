// What AWS, PostgreSQL and Kafka decide and onceonly relies on: each fact with its source and when it was last read there.
// To check them again, open each source, correct the code where it has changed, and write the new date.

export interface ExternalFact {
  readonly fact: string;
  readonly source: string;
  /** A day, or a month if all facts of a group were read together; `unread` if the source wasn't read again since the code was written. */
  readonly read: string;
  /** Where onceonly says the same: a constant of a file, or a part of a file's text. */
  readonly in: string;
  readonly constant?: readonly [name: string, value: number];
  readonly says?: string;
}

const AWS = "https://docs.aws.amazon.com";

const AUDIT = "2026-11";
const TODAY = "2026-11-27";
const UNREAD = "unread";

/** Where a file stands that is named by its folder in a package. */
const placeOf = (file: string) =>
  file.startsWith("packages/")
    ? file
    : file.startsWith("aws/")
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

const ACP =
  "https://github.com/agentic-commerce-protocol/agentic-commerce-protocol/blob/main/rfcs/rfc.agentic_checkout.md";
const PROFILES = "docs/reference/http.md";
const WEBHOOKS = "docs/guides/webhooks.md";

export const EXTERNAL_FACTS: readonly ExternalFact[] = [
  says(
    "2026-06-15",
    "ACP: a POST without a key gets 400 `idempotency_key_required`, and every response to a POST repeats the key",
    ACP,
    PROFILES,
    "| 400 `idempotency_key_required` |",
  ),
  says(
    "2026-06-15",
    "ACP: another body gets 422 `idempotency_conflict`",
    ACP,
    PROFILES,
    "| 422 `idempotency_conflict` |",
  ),
  says(
    "2026-06-15",
    "ACP: a key in flight gets 409 `idempotency_in_flight`, and `Retry-After` in seconds",
    ACP,
    PROFILES,
    "| 409 `idempotency_in_flight` |",
  ),
  says(
    "2026-06-15",
    "ACP: servers keep a key for at least 24 hours",
    ACP,
    "lib/lambda/http/profiles.ts",
    "retentionSeconds < 86_400",
  ),
  says(
    TODAY,
    "Stripe answers 400 to a key with other parameters; its clients name the type `idempotency_error` (stripe 23.1.0)",
    "https://github.com/stripe/stripe-ruby/issues/503",
    PROFILES,
    "| 400, type `idempotency_error` |",
  ),
  says(
    TODAY,
    "Stripe answers 409 to a request that conflicts with another one, such as one with the same key",
    "https://docs.stripe.com/api/errors",
    PROFILES,
    "| 409 `idempotency_key_in_use` |",
  ),
  says(
    TODAY,
    "draft-ietf-httpapi-idempotency-key-header-07: 400 without a key, 422 with another payload, 409 while a request is outstanding",
    "https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header",
    "lib/lambda/http/profiles.ts",
    "draft-ietf-httpapi-idempotency-key-header-07",
  ),
  says(
    TODAY,
    "Stripe retries a live event for up to three days",
    "https://docs.stripe.com/webhooks",
    WEBHOOKS,
    "`pending_webhooks` in the body | 3 days | yes |",
  ),
  says(
    "2026-10",
    "`pending_webhooks` counts the webhooks that haven't been delivered yet (stripe 23.1.0, `Event.pending_webhooks`)",
    "https://docs.stripe.com/api/events/object",
    WEBHOOKS,
    "time, signature, `pending_webhooks` in the body",
  ),
  says(
    TODAY,
    "GitHub doesn't redeliver on its own; deliveries of the past 3 days can be redelivered",
    "https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks",
    WEBHOOKS,
    "only if you ask: deliveries of the past 3 days",
  ),
  says(
    TODAY,
    "X-GitHub-Delivery of a redelivery is the one of the original delivery",
    "https://docs.github.com/en/webhooks/using-webhooks/best-practices-for-using-webhooks",
    WEBHOOKS,
    '| `"github"` | `X-GitHub-Delivery` | nothing |',
  ),
  says(
    TODAY,
    "Shopify retries 8 times over 4 hours, with the original payload",
    "https://shopify.dev/changelog/updates-to-webhook-retry-mechanism",
    WEBHOOKS,
    '| `"shopify"` | `X-Shopify-Topic` and `X-Shopify-Event-Id` | nothing | 8 times in 4 hours |',
  ),
  says(
    TODAY,
    "X-Shopify-Event-Id detects duplicate deliveries of Shopify, also of several subscriptions",
    "https://shopify.dev/docs/apps/build/webhooks/ignore-duplicates",
    "lib/lambda/http/webhooks.ts",
    'header("x-shopify-event-id")',
  ),
  says(
    TODAY,
    "Standard Webhooks: the id stays, the time of the attempt changes; the example of a schedule ends after 75:35:05",
    "https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md",
    WEBHOOKS,
    "the specification's example lasts 75 hours",
  ),
  says(
    TODAY,
    "Svix's libraries refuse a time that is more than five minutes away, past or future",
    "https://docs.svix.com/receiving/verifying-payloads/why",
    "lib/lambda/http/webhooks.ts",
    "const DEFAULT_TOLERANCE_SECONDS = 300;",
  ),
  says(
    TODAY,
    "Node.js 24 ends on 2028-04-30, and so does its Lambda runtime",
    NODE,
    SUPPORT,
    "| 24.21.0 | 2028-04-30 | 2028-07-01 |",
  ),
  says(
    TODAY,
    "Node.js 22 ends on 2027-04-30, and so does its Lambda runtime",
    NODE,
    SUPPORT,
    "| 22.23.3 | 2027-04-30 | 2027-07-01 |",
  ),
  says(TODAY, "Node.js 20 ended on 2026-04-30", NODE, SUPPORT, "| 20.20.2 | 2026-04-30 |"),
  says(
    "2026-08-22",
    "Lambda blocks updates of functions on Node.js 20 from 2027-03-03, on 22 from 2027-07-01, on 24 from 2028-07-01",
    `${END_OF_LIFE}/aws-lambda`,
    SUPPORT,
    "until 2027-03-03. The first release after that day requires Node.js 22",
  ),
  says(
    TODAY,
    "the AWS SDK supports a Node.js version for 8 months after its end",
    "https://aws.amazon.com/blogs/developer/aws-sdk-for-javascript-aligns-with-node-js-release-schedule",
    SUPPORT,
    "Releases of the AWS SDK require Node.js 22 from January 2027",
  ),
  says(
    TODAY,
    "Middy 6 ended on 2026-04-30, Middy 7 ends on 2027-04-30",
    MIDDY,
    SUPPORT,
    "6: 2026-04-30, 7: 2027-04-30",
  ),
  says(
    TODAY,
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
    TODAY,
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
    ["a task's function has 3 s", "cdk/rules/windows/step-functions.ts", "DEFAULT_TIMEOUT", 3],
    ["a reconciler has 3 s", "cdk/reconciler.ts", "DEFAULT_TIMEOUT_SECONDS", 3],
    ["a local function has 3 s", "local/stack/resources/lambda-function.ts", "DEFAULT_TIMEOUT_SECONDS", 3],
  ),
  ...constants(TODAY, "sns/latest/dg/large-message-payloads.html", [
    "a topic accepts 256 KiB by default, a batch in all as much",
    "messaging/sqs-and-sns.ts",
    "SNS_MAX_BYTES",
    262_144,
  ]),
  says(
    TODAY,
    "MaximumMessageSize of a topic goes from 1,024 to 1,048,576 bytes",
    "sns/latest/dg/large-message-payloads.html",
    "packages/explorer/lib/aws/sns/sns-model.ts",
    "bytes < 1024 || bytes > 1_048_576",
  ),
  says(
    TODAY,
    "Kafka's failed records are read (ReportBatchItemFailures) in provisioned mode only",
    "lambda/latest/dg/kafka-retry-configurations.html",
    "lib/cdk/rules/deliveries.ts",
    "with ReportBatchItemFailures, which Lambda only supports for Kafka in provisioned mode",
  ),
  says(
    TODAY,
    "the answer to a batch of a tumbling window must have the window's state, or it counts as a failure",
    "lambda/latest/dg/services-kinesis-windows.html",
    "lib/lambda/batch/read-event.ts",
    "Lambda treats a response without `state` as a failure",
  ),
  says(
    TODAY,
    "a durable execution's name with the same payload returns the existing execution; another payload is refused",
    "lambda/latest/dg/durable-execution-idempotency.html",
    "docs/reference/unknown-outcomes.md",
    "returns the execution that exists, and refuses the name with another payload",
  ),
  ...constants("2026-11-28", "lambda/latest/api/API_DurableConfig.html", [
    "a durable execution lasts at most 366 days",
    "durable/options.ts",
    "MAX_EXECUTION_SECONDS",
    31_622_400,
  ]),
  ...constants("2026-11-28", "lambda/latest/api/API_Execution.html", [
    "the name of a durable execution has at most 64 characters",
    "durable/start-execution.ts",
    "MAX_NAME_LENGTH",
    64,
  ]),
  ...constants(
    "2026-11-28",
    "lambda/latest/dg/durable-invoking-esm.html",
    [
      "an event source mapping waits for a durable execution for 15 minutes, and isn't created for a longer execution timeout",
      "cdk/rules/durable.ts",
      "MAX_MAPPED_SECONDS",
      900,
    ],
    [
      "an event source mapping waits for a durable execution on Managed Instances for 90 minutes",
      "cdk/rules/durable.ts",
      "MAX_MAPPED_SECONDS_ON_MANAGED_INSTANCES",
      5400,
    ],
  ),
  ...constants(
    "2026-11-28",
    "lambda/latest/api/API_DurableConfig.html",
    [
      "a durable execution is remembered for 14 days by default",
      "cdk/rules/durable.ts",
      "DEFAULT_REMEMBERED_DAYS",
      14,
    ],
    [
      "a durable execution is remembered for at most 90 days",
      "cdk/rules/dispatchers.ts",
      "MAX_REMEMBERED_DAYS",
      90,
    ],
  ),
  says(
    "2026-11-28",
    "the ARN of an alias never matches the ARN of a durable execution, which contains a version",
    "lambda/latest/dg/lambda-api-permissions-ref.html",
    "lib/cdk/durable-rights.ts",
    ":*/durable-execution/*",
  ),
  says(
    "2026-11-28",
    "a durable function is invoked with a version or an alias, and supports no destinations",
    "lambda/latest/dg/durable-invoking.html",
    "lib/cdk/rules/durable.ts",
    "without a version or an alias, which Lambda refuses for a durable function",
  ),
  says(
    "2026-11-28",
    "an event source mapping starts a durable execution for each delivery, and waits for it up to 15 minutes",
    "lambda/latest/dg/durable-invoking-esm.html",
    "docs/guides/durable.md",
    "starts an execution for each delivery, and ends it after 15 minutes",
  ),
  says(
    "2026-11-28",
    "names of durable executions are unique in an account and region, until the retention after the end is over",
    "lambda/latest/dg/durable-execution-idempotency.html",
    "docs/guides/durable.md",
    "Lambda remembers a name for `RetentionPeriodInDays` after the end, 14 by default",
  ),
  says(
    TODAY,
    "without a qualifier durable executions of all versions are listed (the description in @aws-sdk/client-lambda 3.1162)",
    "lambda/latest/api/API_ListDurableExecutionsByFunction.html",
    "lib/reconciler/verifiers/durable-execution-started.ts",
    "@default - all versions",
  ),
  says(
    TODAY,
    "Kafka's stream mode retries until the record expires, and 10 times with an on-failure destination (the description in @aws-sdk/client-lambda 3.1162)",
    "lambda/latest/api/API_CreateEventSourceMapping.html",
    "docs/reference/messages.md",
    "For Kafka, an `onFailure` destination limits the retries to 10.",
  ),
  says(
    TODAY,
    "Kafka's queue mode (share groups) keeps no order",
    "lambda/latest/dg/polling-kafka-queue.html",
    "docs/guides/queues-and-streams.md",
    "**Kafka's queue mode** (`ConsumptionMode: Queue`) keeps no order",
  ),
  says(
    TODAY,
    "in Kafka's queue mode Lambda retries 0 times by default, and without an on-failure destination the broker redelivers (the description in @aws-sdk/client-lambda 3.1162)",
    "lambda/latest/api/API_UpdateEventSourceMapping.html",
    "lib/cdk/rules/deliveries.ts",
    "retryAttempts, which is 0 by default in this mode",
  ),
  says(
    TODAY,
    "a share group's broker delivers a record 5 times by default",
    "https://github.com/spring-projects/spring-kafka/pull/4103",
    "docs/reference/messages.md",
    "(`group.share.delivery.count.limit`, 5 by default)",
  ),
  says(
    "2026-11-28",
    "a pipe reads `batchItemFailures` of its target: message ids for SQS, event ids for Kinesis and DynamoDB streams; it retries a Kafka batch, and an enrichment, as a whole",
    "eventbridge/latest/userguide/eb-pipes-batching-concurrency.html",
    "lib/lambda/batch/stream-source.ts",
    "A pipe reads event ids, not sequence numbers",
  ),
  says(
    "2026-11-28",
    "a list that answers AppSync's BatchInvoke has `data`, and `errorMessage` and `errorType` for an item that failed, in the order of the items",
    "appsync/latest/devguide/resolver-mapping-template-reference-lambda.html",
    "lib/lambda/batch/idempotent-each.ts",
    "{ data: null, errorMessage: message || errorType, errorType }",
  ),
  ...constants(TODAY, "eventbridge/latest/userguide/eb-custom-bus-retry.html", [
    "a subscriber of a custom event bus retries an event for 300 s by default",
    "cdk/rules/windows/event-bridge.ts",
    "SUBSCRIBER_SECONDS",
    300,
  ]),
  ...constants(TODAY, "eventbridgev2/latest/APIReference/API_BatchConfiguration.html", [
    "a subscriber passes 10 events at once to a function by default",
    "cdk/rules/windows/event-bridge.ts",
    "SUBSCRIBER_BATCH",
    10,
  ]),
  ...constants(TODAY, "eventbridge/latest/userguide/eb-custom-bus-target-lambda.html", [
    "a subscriber waits for a function's response for 30 s by default, and at most",
    "cdk/rules/windows/event-bridge.ts",
    "SUBSCRIBER_WAITS_SECONDS",
    30,
  ]),
  says(
    TODAY,
    "a function gets a subscriber's events as an array, unless MaxBatchSize is 1",
    "eventbridge/latest/userguide/eb-custom-bus-target-lambda.html",
    "lib/cdk/rules/deliveries.ts",
    "at once, as an array, which isn't one operation: use idempotentBatch, or set MaxBatchSize to 1",
  ),
  ...constants(
    TODAY,
    "AWSCloudFormation/latest/TemplateReference/aws-properties-eventsv2-eventbus-storageconfiguration.html",
    [
      "a custom event bus retains events for 1 to 365 days (the description in aws-cdk-lib 2.276)",
      "cdk/rules/windows/event-bridge.ts",
      "LONGEST_RETENTION_DAYS",
      365,
    ],
  ),
  says(
    TODAY,
    "EventBridge retries a rule's event for 24 hours by default",
    "eventbridge/latest/userguide/eb-rule-retry-policy.html",
    "lib/cdk/rules/windows/hop.ts",
    "value: MaximumEventAgeInSeconds, most: 86_400",
  ),
  ...constants(
    TODAY,
    "eventbridge/latest/APIReference/API_PutEvents.html",
    [
      "the entries of a PutEvents request have less than 1 MB (the description in @aws-sdk/client-eventbridge 3.1162)",
      "aws/eventbridge/put-events.ts",
      "MAX_BYTES",
      1_048_576,
    ],
    [
      "older descriptions of PutEvents say 256 KB, so several events share no more than that",
      "messaging/eventbridge.ts",
      "EVENTBRIDGE_MAX_BYTES",
      262_144,
    ],
  ),
  ...constants(TODAY, "AmazonCloudWatch/latest/events/CalculatePutEventsEntrySize.html", [
    "the time of a PutEvents entry counts as 14 bytes",
    "messaging/eventbridge.ts",
    "TIME_BYTES",
    14,
  ]),
  ...constants(TODAY, "sns/latest/dg/sns-message-delivery-retries.html", [
    "SNS retries a delivery to a queue or a function for 23 days",
    "cdk/rules/windows/sns.ts",
    "RETRY_SECONDS",
    1_987_200,
  ]),
  says(
    TODAY,
    "a bulk load writes items from S3 into an existing table (StartBulkPutItems)",
    "amazondynamodb/latest/developerguide/BulkPutItems.Considerations.html",
    "docs/reference/constructs.md",
    "(`StartBulkPutItems`), because no template shows them",
  ),
  says(
    TODAY,
    "a Kinesis stream keeps records for 24 hours by default, and 8,760 hours at most",
    "streams/latest/dev/kinesis-extended-retention.html",
    "lib/cdk/rules/windows/streams.ts",
    "const KINESIS_HOURS = { default: 24, most: 8760 };",
  ),
  says(
    TODAY,
    "Lambda retries a failed asynchronous invocation after one minute, and after two more",
    "lambda/latest/dg/invocation-async-error-handling.html",
    "lib/cdk/rules/retries.ts",
    "const PAUSES = [60, 120];",
  ),
  says(
    TODAY,
    "the simulator retries a failed asynchronous invocation after one minute, and after two more",
    "lambda/latest/dg/invocation-async-error-handling.html",
    "packages/explorer/lib/simulator/function-pool.ts",
    "const RETRY_AFTER_MS = [60_000, 120_000];",
  ),
  says(
    TODAY,
    "a synchronous invocation accepts 6 MB, an asynchronous one 1 MB",
    "lambda/latest/api/API_Invoke.html",
    "packages/local/lib/lambda/invoke-api.ts",
    "const LARGEST_PAYLOAD_BYTES = { RequestResponse: 6_291_456, Event: 1_048_576, DryRun: 6_291_456 }",
  ),
  says(
    TODAY,
    "a queue hides a message for 30 s by default, and keeps it for 4 days (the description in @aws-sdk/client-sqs 3.1162)",
    "AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html",
    "lib/cdk/rules/queue-settings.ts",
    "const SQS_DEFAULTS = { visibilityTimeout: 30, messageRetentionPeriod: 345_600 };",
  ),
  says(
    TODAY,
    "a queue keeps messages for 14 days at most, of which a consumer's 35 days of memory are made",
    "AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html",
    "lib/core/message-age.ts",
    "export const MESSAGE_DEFAULTS = { retentionSeconds: 3_024_000 };",
  ),
  ...constants(
    TODAY,
    "AWSSimpleQueueService/latest/SQSDeveloperGuide/troubleshooting-fifo-throttling-issues.html",
    [
      "a FIFO queue accepts 300 calls of an action per second",
      "packages/explorer/lib/simulator/quotas.ts",
      "FIFO_CALLS_PER_SECOND",
      300,
    ],
  ),
  ...constants(
    TODAY,
    "apigateway/latest/developerguide/http-api-quotas.html",
    [
      "an HTTP API waits 10 s for an authorizer",
      "local/stack/gateway/authorizer.ts",
      "AUTHORIZER_TIMEOUT_MS",
      10_000,
    ],
    ["an HTTP API accepts 10 MB", "local/stack/gateway/request.ts", "MAX_PAYLOAD_BYTES", 10_485_760],
    [
      "a local HTTP API waits 30 s",
      "local/stack/resources/http-api.ts",
      "DEFAULT_INTEGRATION_TIMEOUT_MS",
      30_000,
    ],
  ),
  ...constants(
    AUDIT,
    "AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html",
    ["a message, and a batch, has at most 1 MiB", "messaging/sqs-and-sns.ts", "SQS_MAX_BYTES", 1_048_576],
    ["a batch in the model has at most 1 MiB", "aws/sqs/send-message.ts", "MAX_BATCH_BYTES", 1_048_576],
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
    ["a DedupQueue's maxReceiveCount is at most 1,000", "cdk/checks/dedup-queue.ts", "MAX_RECEIVES", 1000],
    ["maxReceiveCount is 10 unless it is given", "aws/sqs/redrive-policy.ts", "DEFAULT_RECEIVE_COUNT", 10],
  ),
  ...constants(
    AUDIT,
    "amazondynamodb/latest/developerguide/Constraints.html",
    ["an item has 400 KB", "dynamodb/values.ts", "MAX_ITEM_BYTES", 409_600],
    ["an item in the model has 400 KB", "aws/dynamodb/writes/prepared-write.ts", "MAX_ITEM_BYTES", 409_600],
    ["a transaction has 100 actions", "dynamodb/join-commits.ts", "MAX_ACTIONS", 100],
    ["a number has 38 digits", "aws/dynamodb/values/decimal.ts", "MAX_DIGITS", 38],
    ["values nest 32 levels deep", "aws/dynamodb/values/read-value.ts", "MAX_DEPTH", 32],
    ["a partition key has 2,048 bytes", "aws/dynamodb/tables/key-values.ts", "MAX_PARTITION_KEY_BYTES", 2048],
    ["a sort key has 1,024 bytes", "aws/dynamodb/tables/key-values.ts", "MAX_SORT_KEY_BYTES", 1024],
    ["BatchGetItem reads 100 items", "dynamodb/grouped-looks.ts", "MAX_LOOKS", 100],
    ["BatchExecuteStatement has 25 statements", "dynamodb/grouped-statements.ts", "MAX_STATEMENTS", 25],
    ["a stream keeps records for 24 hours", "aws/dynamodb/streams/stream.ts", "RETENTION_MS", 86_400_000],
    [
      "a table's stream redelivers for 24 hours",
      "cdk/rules/windows/streams.ts",
      "TABLE_STREAM_SECONDS",
      86_400,
    ],
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
    [
      "a local REST API waits 29 s",
      "local/stack/resources/rest-api.ts",
      "DEFAULT_INTEGRATION_TIMEOUT_MS",
      29_000,
    ],
    ["HTTP handlers wait 1 s less than that", "lambda/http/event.ts", "GATEWAY_WAITS_MS", 28_000],
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
    TODAY,
    "Aurora DSQL holds 1 MiB in a column and 2 MiB in a row",
    "aurora-dsql/latest/userguide/CHAP_quotas.html",
    "docs/reference/stores.md",
    "holds 1 MiB in a column and 2 MiB in a row",
  ),
  ...constants(AUDIT, "aurora-dsql/latest/userguide/CHAP_quotas.html", [
    "Aurora DSQL ends a transaction after 5 minutes",
    "postgres/handler-session.ts",
    "DSQL_TRANSACTION_MS",
    300_000,
  ]),
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
  says(
    AUDIT,
    "SQS counts the 12 hours of hiding from the receive",
    "AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html",
    "lib/lambda/batch/visibility.ts",
    "const MAX_HIDDEN_SECONDS = 12 * 3600 - 300 - LONGEST_INVOCATION_SECONDS;",
  ),
  ...constants(UNREAD, "lambda/latest/dg/services-sqs-configure.html", [
    "a queue's visibility timeout should be six times its function's timeout",
    "cdk/checks/dedup-queue.ts",
    "VISIBILITY_PER_TIMEOUT",
    6,
  ]),
  ...constants(UNREAD, "step-functions/latest/dg/service-quotas.html", [
    "a task waits for its token for a year at most",
    "cdk/rules/windows/step-functions.ts",
    "YEAR_SECONDS",
    31_536_000,
  ]),
  ...constants(UNREAD, "amazondynamodb/latest/developerguide/read-write-operations.html", [
    "a read unit reads 4 KB",
    "packages/cli/lib/scan.ts",
    "UNIT_BYTES",
    4096,
  ]),
  ...constants(
    UNREAD,
    "amazondynamodb/latest/developerguide/Constraints.html#limits-expression-parameters",
    ["a placeholder has 255 bytes", "aws/dynamodb/expressions/placeholders.ts", "MAX_NAME_BYTES", 255],
    ["an expression has 4 KB", "aws/dynamodb/expressions/token-stream.ts", "MAX_BYTES", 4096],
  ),
  ...constants(UNREAD, "amazondynamodb/latest/developerguide/Query.Pagination.html", [
    "a page of a query has 1 MB",
    "aws/dynamodb/reads/read-page.ts",
    "MAX_PAGE_BYTES",
    1_048_576,
  ]),
  ...constants(UNREAD, "amazondynamodb/latest/developerguide/howitworks-ttl.html", [
    "TTL ignores times that are more than 5 years past",
    "aws/dynamodb/tables/time-to-live.ts",
    "MAX_AGE_SECONDS",
    157_680_000,
  ]),
  ...constants(UNREAD, "AWSSimpleQueueService/latest/APIReference/API_DeleteQueue.html", [
    "a queue's name is free 60 s after it was deleted",
    "aws/sqs/create-queue.ts",
    "NAME_REST_MS",
    60_000,
  ]),
  ...constants(UNREAD, "lambda/latest/dg/gettingstarted-limits.html", [
    "a response has 6 MB, and 100 bytes for its envelope",
    "local/lambda/invoke-result.ts",
    "LARGEST_RESPONSE_BYTES",
    6_291_556,
  ]),
  ...constants(UNREAD, "AWSCloudFormation/latest/TemplateReference/aws-resource-apigateway-authorizer.html", [
    "a REST API keeps an authorizer's answer for 300 s",
    "local/stack/resources/rest-api.ts",
    "DEFAULT_RESULT_TTL_SECONDS",
    300,
  ]),
];

/** What could not be checked, and why: no source that can be read here says it. */
export const UNCHECKED: readonly string[] = [
  "30 minutes for event functions: a release note of AWS's SDK for Java says so; the developer guide and the SDK for JavaScript 3.1162 say 15, and 90 on Managed Instances",
  "how a subscriber of a custom event bus invokes a function that has no `InvocationType`: the synthesis assumes an asynchronous invocation, whose window is the longer one",
  "whether the events of a subscriber's failed batch come again together",
  "whether partial responses need provisioned mode in Kafka's queue mode too: the synthesis assumes so",
  "which permissions StartBulkPutItems needs on the table: only its own action is named in the documents",
  "how old the pages are: they were read as stored copies, which may lag behind the live ones",
  "the engines themselves: nothing here ran against an AWS account",
];

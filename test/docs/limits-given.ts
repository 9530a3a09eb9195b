// onceonly's own limits that a user can meet: each with the constant that enforces it.

interface OwnLimit {
  readonly what: string;
  readonly file: string;
  readonly constant: string;
  readonly unit: string;
}

const limit = (what: string, file: string, constant: string, unit: string): OwnLimit => ({
  what,
  file: `lib/${file}`,
  constant,
  unit,
});

export const OWN_LIMITS: readonly OwnLimit[] = [
  limit("Idempotency key", "core/identity.ts", "MAX_KEY_LENGTH", "characters"),
  limit("Operation name", "core/identity.ts", "MAX_OPERATION_LENGTH", "characters"),
  limit("Scope", "core/identity.ts", "MAX_SCOPE_LENGTH", "characters"),
  limit("Retention", "contract.ts", "MAX_RETENTION_SECONDS", "seconds"),
  limit("Retention with `allowLongRetention`", "contract.ts", "MAX_LONG_RETENTION_SECONDS", "seconds"),
  limit("Shortest lease that is renewed", "core/options.ts", "MIN_RENEWED_SECONDS", "seconds"),
  limit(
    "Time between two questions to `verify` for a held key, at least",
    "contract.ts",
    "HELD_RETRY_SECONDS",
    "seconds",
  ),
  limit(
    "Calls that wait for claims of one store in one environment (`maxWaiters`)",
    "core/waiting.ts",
    "MAX_WAITERS",
    "calls",
  ),
  limit("Steps of one operation", "core/step-log.ts", "MAX_STEPS", "steps"),
  limit("Steps of a saga", "saga/saga.ts", "MAX_STEPS", "steps"),
  limit("Saga name and step name together", "saga/saga.ts", "MAX_NAMES", "characters"),
  limit("DynamoDB: your own writes in one commit", "dynamodb/writes.ts", "MAX_WRITES", "writes"),
  limit("DynamoDB: writes and messages of one commit together", "dynamodb/writes.ts", "MAX_BYTES", "bytes"),
  limit("DynamoDB: messages in one commit", "dynamodb/placement.ts", "MAX_MESSAGES", "messages"),
  limit("DynamoDB: text of a result, before compression", "dynamodb/values.ts", "MAX_TEXT_BYTES", "bytes"),
  limit("Valkey: your own writes in one commit", "valkey/writes.ts", "MAX_WRITES", "writes"),
  limit("Valkey: a result", "valkey/record-words.ts", "MAX_KEPT_BYTES", "bytes"),
  limit(
    "Valkey: time for which a cache remembers a record",
    "valkey/cache-entries.ts",
    "MAX_REMEMBER_SECONDS",
    "seconds",
  ),
  limit(
    "Body of a request on a Fetch API server (`maxRequestBytes`)",
    "http/fetch.ts",
    "DEFAULT_MAX_REQUEST_BYTES",
    "bytes",
  ),
  limit("`idempotentFetch`: deadline", "client/options.ts", "MAX_SECONDS", "seconds"),
  limit("Message to SQS", "messaging/sqs-and-sns.ts", "SQS_MAX_BYTES", "bytes"),
  limit("Message to SNS", "messaging/sqs-and-sns.ts", "SNS_MAX_BYTES", "bytes"),
  limit("Message to EventBridge", "messaging/eventbridge.ts", "EVENTBRIDGE_MAX_BYTES", "bytes"),
  limit(
    "Longest pause between two tries of the relay",
    "messaging/retry-delay.ts",
    "MAX_RETRY_DELAY_MS",
    "ms",
  ),
];

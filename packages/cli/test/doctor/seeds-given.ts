// Changes that an operator made by hand in the deployed sample, and the check that has to find each.
import { type Sample, SECRET } from "./deployed-given.ts";

export type Seed = readonly [check: string, why: string, change: (sample: Sample) => unknown];

export const TABLE = "IdempotencyC";
export const QUEUE = "PaymentsQueue5";
const DEAD = "PaymentsQueueDeadLetters5";
export const [RELAY, CONSUMER] = ["OutboxRelayStream", "ChargePaymentConsumer"];
export const [CHARGE, CREATE, SENDER, SWEEPER] = [
  "ChargePayment4",
  "CreateOrder1",
  "OutboxRelay5",
  "OutboxSweeperD",
];

const change = (mapping: string, properties: object) => (sample: Sample) =>
  Object.assign(sample.mapping(mapping), properties);

export const configure = (fn: string, properties: object) => (sample: Sample) =>
  Object.assign(sample.function(fn), properties);

export const variable = (fn: string, name: string, value: string | undefined) => (sample: Sample) => {
  sample.function(fn).Environment.Variables[name] = value;
};

export const attribute =
  (queue: string, Attributes: Record<string, string>) =>
  ({ sqs, name }: Sample) =>
    sqs.setQueueAttributes({ QueueUrl: name(queue), Attributes });

const unmapped = (mapping: string) => (sample: Sample) => {
  const gone = sample.mapping(mapping);
  sample.edge.mappings = sample.edge.mappings.filter((each) => each !== gone);
};

const unalarmed = (pattern: RegExp) => (sample: Sample) => {
  const stack = sample.edge.stacks.sample!;
  for (const { AlarmName } of sample.alarms(pattern)) {
    sample.edge.alarms = sample.edge.alarms.filter((alarm) => alarm.AlarmName !== AlarmName);
    stack.splice(
      stack.findIndex(({ physical }) => physical === AlarmName),
      1,
    );
  }
};

const anotherStream = async (
  { dynamodb, name }: Sample,
  StreamViewType: "NEW_IMAGE" | "KEYS_ONLY" = "NEW_IMAGE",
) => {
  const TableName = name(TABLE);
  await dynamodb.updateTable({ TableName, StreamSpecification: { StreamEnabled: false } });
  const StreamSpecification = { StreamEnabled: true, StreamViewType };
  await dynamodb.updateTable({ TableName, StreamSpecification });
  return (await dynamodb.describeTable({ TableName })).Table?.LatestStreamArn;
};

export const SEEDS: readonly Seed[] = [
  [
    "no-expiry",
    "TTL was switched off",
    ({ dynamodb, name }) =>
      dynamodb.updateTimeToLive({
        TableName: name(TABLE),
        TimeToLiveSpecification: { Enabled: false, AttributeName: "expiresAt" },
      }),
  ],
  [
    "table-recovery",
    "point-in-time recovery was switched off",
    ({ edge, name }) => Object.assign(edge.backups, { [name(TABLE)]: false }),
  ],
  [
    "table-protection",
    "deletion protection was switched off",
    ({ dynamodb, name }) =>
      dynamodb.updateTable({ TableName: name(TABLE), DeletionProtectionEnabled: false }),
  ],
  [
    "ttl-attribute",
    "TTL has another attribute",
    async ({ dynamodb, name }) => {
      const TableName = name(TABLE);
      const set = (Enabled: boolean, AttributeName: string) =>
        dynamodb.updateTimeToLive({ TableName, TimeToLiveSpecification: { Enabled, AttributeName } });
      await set(false, "expiresAt");
      await set(true, "ttl");
    },
  ],
  [
    "replicated-table",
    "a replica was added",
    ({ edge }) => {
      edge.regions.push("eu-west-1");
      edge.describeTable = (table) => Object.assign(table, { Replicas: [{ RegionName: "eu-west-1" }] });
    },
  ],
  [
    "outbox-stream",
    "the stream has keys alone",
    async (sample) => {
      const EventSourceArn = await anotherStream(sample, "KEYS_ONLY");
      Object.assign(sample.mapping(RELAY), { EventSourceArn });
    },
  ],
  [
    "live-table-state",
    "the index is being built anew",
    ({ edge }) => {
      edge.describeTable = ({ GlobalSecondaryIndexes }) =>
        Object.assign(
          GlobalSecondaryIndexes.find(({ IndexName }: { IndexName: string }) => IndexName === "outbox"),
          { IndexStatus: "CREATING" },
        );
    },
  ],
  [
    "live-table-state",
    "the table's key is gone",
    ({ edge }) => {
      edge.describeTable = (table) =>
        Object.assign(table, { TableStatus: "INACCESSIBLE_ENCRYPTION_CREDENTIALS" });
    },
  ],
  [
    "table-index",
    "the sparse index was deleted",
    // DynamoDB Local may take longer than half a minute to delete an index.
    ({ edge }) => {
      edge.describeTable = (table) =>
        Object.assign(table, {
          GlobalSecondaryIndexes: table.GlobalSecondaryIndexes.filter(
            ({ IndexName }: { IndexName: string }) => IndexName !== "outbox",
          ),
        });
    },
  ],
  ["outbox-relay", "the relay's event source was disabled", change(RELAY, { State: "Disabled" })],
  ["relay-start", "the relay starts at LATEST", change(RELAY, { StartingPosition: "LATEST" })],
  ["relay-partial", "the relay reports no items", change(RELAY, { FunctionResponseTypes: [] })],
  ["relay-filter", "the relay's filter was taken away", change(RELAY, { FilterCriteria: undefined })],
  ["relay-retries", "the relay's retries were limited", change(RELAY, { MaximumRetryAttempts: 3 })],
  [
    "outbox-sweeper",
    "the rule was disabled",
    ({ edge, name }) => Object.assign(edge.rules[name("OutboxSweep6")]!, { State: "DISABLED" }),
  ],
  [
    "outbox-sweeper",
    "the rule has another target",
    ({ edge, name }) => Object.assign(edge.rules[name("OutboxSweep6")]!, { targets: [] }),
  ],
  ["outbox-shards", "the sweeper looks into fewer shards", variable(SWEEPER, "OUTBOX_SHARDS", "4")],
  ["outbox-variable", "a variable was deleted", variable(CHARGE, "IDEMPOTENCY_OUTBOX", undefined)],
  ["queue-deduplication", "by content", attribute(QUEUE, { ContentBasedDeduplication: "true" })],
  ["queue-visibility", "of the queue was lowered", attribute(QUEUE, { VisibilityTimeout: "30" })],
  ["queue-visibility", "the function's timeout was raised", configure(CHARGE, { Timeout: 20 })],
  [
    "no-batch-failures",
    "the consumer reports no items",
    change(CONSUMER, { FunctionResponseTypes: undefined }),
  ],
  ["queue-dead-letters", "the redrive policy was taken away", attribute(QUEUE, { RedrivePolicy: "" })],
  ["short-dead-letters", "was lowered", attribute(DEAD, { MessageRetentionPeriod: "345600" })],
  ["retention", "was lowered", variable(CHARGE, "IDEMPOTENCY_RETENTION_SECONDS", "86400")],
  ["mapping-enabled", "the consumer was disabled", change(CONSUMER, { State: "Disabling" })],
  ["runtime", "is an old one", configure(CREATE, { Runtime: "nodejs18.x" })],
  [
    "no-concurrency",
    "a handler was stopped",
    ({ edge, name }) => Object.assign(edge.concurrency, { [name(CHARGE)]: 0 }),
  ],
  [
    "no-concurrency",
    "the relay was stopped",
    ({ edge, name }) => Object.assign(edge.concurrency, { [name(SENDER)]: 0 }),
  ],
  ["gateway-timeout", "was raised", configure(CREATE, { Timeout: 60 })],
  ["alarm-ran-unprotected", "left the stack", unalarmed(/^MonitoringRanUnprotected/)],
  ["alarm-completion-lost", "left the stack", unalarmed(/^MonitoringCompletionLost/)],
  ["alarm-claim-lost", "left the stack", unalarmed(/^MonitoringClaimLost/)],
  ["alarm-store-failed", "left the stack", unalarmed(/^MonitoringStoreFailures/)],
  ["alarm-iterator-age", "left the stack", unalarmed(/^MonitoringRelayIteratorAge/)],
  ["alarm-outbox-age", "left the stack", unalarmed(/^MonitoringOutboxAge/)],
  ["alarm-outbox-parked", "left the stack", unalarmed(/^MonitoringOutboxParked/)],
  ["alarm-sender-errors", "left the stack", unalarmed(/^MonitoringFunctionErrors.*Sweeper/)],
  ["alarm-dead-letters", "left the stack", unalarmed(/^MonitoringDeadLetters/)],
  [
    "live-alarm-actions",
    "an alarm was muted, and another on the same metric was not",
    ({ alarms }) => Object.assign(alarms(/^MonitoringStoreFailuresCritical/)[0]!, { ActionsEnabled: false }),
  ],
  [
    "live-mapping-result",
    "the consumer fails",
    change(CONSUMER, { LastProcessingResult: "PROBLEM: Function call failed" }),
  ],
  [
    "live-function-state",
    "its key is gone",
    configure(CREATE, { State: "Failed", StateReasonCode: "DisabledKMSKey" }),
  ],
  [
    "live-function-state",
    "the last update failed",
    configure(SENDER, { LastUpdateStatus: "Failed", LastUpdateStatusReason: SECRET }),
  ],
];

/** Faults that more than one check reports. */
export const WIDE_SEEDS: readonly (readonly [checks: readonly string[], why: string, change: Seed[2]])[] = [
  [["live-gone"], "the consumer's event source was deleted", unmapped(CONSUMER)],
  [["outbox-relay", "live-gone"], "the relay's event source was deleted", unmapped(RELAY)],
  [
    ["outbox-relay", "live-stream"],
    "the stream was switched off and on, and the relay reads the former one",
    (sample) => anotherStream(sample),
  ],
  [
    ["outbox-relay", "outbox-stream"],
    "the stream was switched off",
    ({ dynamodb, name }) =>
      dynamodb.updateTable({ TableName: name(TABLE), StreamSpecification: { StreamEnabled: false } }),
  ],
  [
    ["alarm-claim-lost", "live-alarm-actions"],
    "the one alarm on lost claims was muted",
    ({ alarms }) => Object.assign(alarms(/^MonitoringClaimLost/)[0]!, { ActionsEnabled: false }),
  ],
  [
    ["alarm-claim-lost", "live-gone"],
    "the one alarm on lost claims was deleted",
    (sample) => {
      const [gone] = sample.alarms(/^MonitoringClaimLost/);
      sample.edge.alarms = sample.edge.alarms.filter((alarm) => alarm !== gone);
    },
  ],
  [
    ["live-gone"],
    "the dead-letter queue was deleted",
    ({ sqs, name }) => sqs.deleteQueue({ QueueUrl: name(DEAD) }),
  ],
];

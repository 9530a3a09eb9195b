/**
 * Names that infrastructure and runtime share, so that a construct, a policy, a metric and a stored record cannot drift apart.
 * Imports nothing; both halves of the package import it.
 */

/** The project's address: problem types and runbook links begin with it, and package.json contains it. */
export const PROJECT_URL = "https://github.com/onceonly/onceonly";

/** The version of a stored record that uses only the first release's features. */
export const RECORD_VERSION = 1;

/**
 * Features that a reader must know before it may act on a record. A record's version includes the bits of the features that it
 * uses, for as long as it uses them. Code that doesn't know one of them refuses the record (it fails closed) and reads all
 * others. The next feature gets the bit 8.
 */
export const RECORD_FEATURES = {
  /** An attempt resumes after its steps, or must find out how they ended. A reader that ignores them would run them again. */
  steps: 2,
  /** Results of steps are in rows of their own. A reader that doesn't find them would take such a step for one without a result. */
  stepRows: 4,
} as const;

/** The version of a record with steps. */
export const STEPS_VERSION = RECORD_VERSION | RECORD_FEATURES.steps;

/** The version of a record with steps whose results are in rows of their own. */
export const STEP_ROWS_VERSION = STEPS_VERSION | RECORD_FEATURES.stepRows;

/** The versions that this code supports. */
export const RECORD_VERSIONS: readonly number[] = [RECORD_VERSION, STEPS_VERSION, STEP_ROWS_VERSION];

/**
 * The longest that Lambda lets an invocation run, in seconds: 90 minutes on Managed Instances for asynchronous invocations and
 * event source mappings. Elsewhere it's 15 minutes, or 30, as a release of AWS's SDK announces.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-timeout.html
 */
export const LONGEST_INVOCATION_SECONDS = 5400;

interface EventSourceRow {
  /** `eventSource` in its events. */
  readonly eventSources: readonly string[];
  /** How it redelivers a record: only that one, or with all later records in its shard or partition. */
  readonly redelivers: "messages" | "positions";
  /**
   * Whether each of its mappings can have `ReportBatchItemFailures`, so that Lambda reads which records of a batch failed.
   * Otherwise the batch has to throw, or its failed records are lost.
   */
  readonly reportsFailures: boolean | "never";
  /** The member of `SourceParameters` that holds its settings in a pipe. */
  readonly pipe?: string;
}

const eventSources = <Name extends string>(rows: Readonly<Record<Name, EventSourceRow>>) => rows;

/** The event sources that `idempotentBatch` supports, by their usual names. */
export const EVENT_SOURCES = /* @__PURE__ */ eventSources({
  SQS: {
    eventSources: ["aws:sqs"],
    redelivers: "messages",
    reportsFailures: true,
    pipe: "SqsQueueParameters",
  },
  Kinesis: {
    eventSources: ["aws:kinesis"],
    redelivers: "positions",
    reportsFailures: true,
    pipe: "KinesisStreamParameters",
  },
  "DynamoDB streams": {
    eventSources: ["aws:dynamodb"],
    redelivers: "positions",
    reportsFailures: true,
    pipe: "DynamoDBStreamParameters",
  },
  Kafka: {
    eventSources: ["aws:kafka", "SelfManagedKafka"],
    redelivers: "positions",
    // In provisioned mode only.
    reportsFailures: false,
  },
  "EventBridge custom buses": {
    // Events have none: their own fields show where they come from.
    eventSources: [],
    redelivers: "messages",
    // A subscriber that invokes asynchronously doesn't read the response, and the event doesn't say which one it is.
    reportsFailures: "never",
  },
  ActiveMQ: { eventSources: ["aws:mq"], redelivers: "messages", reportsFailures: "never" },
  RabbitMQ: { eventSources: ["aws:rmq"], redelivers: "messages", reportsFailures: "never" },
});

export type EventSource = keyof typeof EVENT_SOURCES;

/** The source whose events carry this `eventSource`. */
export function findEventSource(eventSource: unknown): EventSource | undefined {
  const names = Object.keys(EVENT_SOURCES) as EventSource[];
  return names.find((name) => EVENT_SOURCES[name].eventSources.includes(eventSource as string));
}

/** Attribute names of the stored record. */
export const ATTRIBUTES = {
  partitionKey: "pk",
  version: "version",
  state: "state",
  token: "token",
  attempt: "attempt",
  leaseEndsAt: "leaseEndsAt",
  fingerprint: "fingerprint",
  steps: "steps",
  stepItems: "stepItems",
  result: "result",
  resultItem: "resultItem",
  resultBytes: "resultBytes",
  messages: "messages",
  messageItems: "messageItems",
  unsentShard: "unsentShard",
  unsentSince: "unsentSince",
  expiresOnceSent: "expiresOnceSent",
  delivery: "delivery",
  sendingUntil: "sendingUntil",
  sender: "sender",
  notes: "notes",
  createdAt: "createdAt",
  completedAt: "completedAt",
  evidence: "evidence",
  unsettledShard: "unsettledShard",
  unsettledSince: "unsettledSince",
  expiresAt: "expiresAt",
} as const;

/**
 * The sparse index in which the sweeper finds records with unsent messages. Partition key `unsentShard` (number); sort key
 * `unsentSince` (number, epoch ms), the time of the commit, then of the next try; keys only. Records without such messages are
 * not in the index.
 */
export const OUTBOX_INDEX = "outbox";

/**
 * The default number of partitions of that index, numbered from 0; table, store and sweeper can set another one. Commits whose
 * first message has the same group and FIFO destination share a partition and are found there in commit order. Each partition
 * handles about 500 commits a second.
 */
export const OUTBOX_SHARDS = 8;

/**
 * The sparse, keys-only index in which held keys and abandoned attempts are found. Partition key: `unsettledShard` (number).
 * Sort key: `unsettledSince` (number, epoch ms), the end of the claim's first lease, or when the key was held. It contains
 * records of operations that hold or verify, from their claim to their end, and held records.
 */
export const UNSETTLED_INDEX = "unsettled";

/** The number of partitions of that index, numbered from 0. Each handles about 500 calls a second. */
export const UNSETTLED_SHARDS = 8;

/**
 * Attributes that decide whether messages are sent. Code that commits no messages must not be able to write them. Only senders
 * need the last three.
 */
export const OUTBOX_ATTRIBUTES: readonly string[] = [
  ATTRIBUTES.messages,
  ATTRIBUTES.messageItems,
  ATTRIBUTES.unsentShard,
  ATTRIBUTES.unsentSince,
  ATTRIBUTES.delivery,
  ATTRIBUTES.sendingUntil,
  ATTRIBUTES.sender,
  ATTRIBUTES.notes,
];

/** The partition for commits whose only remaining messages are parked; each swept partition has one. */
export const parkedShard = (shard: number): number => -1 - shard;

/** Replaces the number of shards if no relay or sweeper would send the committed messages. */
export const NO_OUTBOX = "none";

/** A leap year: the longest retention without `allowLongRetention`. A day in milliseconds is more than this. */
export const MAX_RETENTION_SECONDS = 31_622_400;

/** Ten years. */
export const MAX_LONG_RETENTION_SECONDS = 315_360_000;

/** How long the caller of a held key waits before it retries, and the engine before it asks `verify` again. */
export const HELD_RETRY_SECONDS = 60;

/** Environment variables that the constructs set and a handler reads. */
export const ENVIRONMENT = {
  idempotencyTable: "IDEMPOTENCY_TABLE",
  retentionSeconds: "IDEMPOTENCY_RETENTION_SECONDS",
  /** For functions that run operations: `none`, or the number of shards for their commits with messages. */
  outbox: "IDEMPOTENCY_OUTBOX",
  /** For relay and sweeper: a JSON list of the destinations that they may send to. */
  outboxDestinations: "OUTBOX_DESTINATIONS",
  /** For senders of messages with `deliverAt`: the option `scheduler` in JSON. */
  outboxScheduler: "OUTBOX_SCHEDULER",
  /** For relay and sweeper: the number of shards for waiting commits. */
  outboxShards: "OUTBOX_SHARDS",
  /** For relay and sweeper: the names of key, TTL attribute and index in JSON, if they aren't the defaults. */
  outboxTable: "OUTBOX_TABLE",
  /** For dispatchers: the durable function whose executions `startOnce` starts, with its version or alias. */
  durableFunction: "DURABLE_FUNCTION",
  /** The bucket for results that are too large for their records. */
  resultBucket: "IDEMPOTENCY_RESULT_BUCKET",
  metricsService: "METRICS_SERVICE",
  metricsNamespace: "METRICS_NAMESPACE",
} as const;

/** The message attribute that holds the envelope: the idempotency key that travels with a message. */
export const ENVELOPE_ATTRIBUTE = "OnceonlyEnvelope";

/** Version of the envelope. An envelope with another version counts as absent. */
export const ENVELOPE_VERSION = 1;

/** CloudWatch metrics: `emfMetrics` writes them, `IdempotencyMonitoring` watches them. */
export const METRICS = {
  /** The default namespace. */
  namespace: "Onceonly",
  /** The default value of the dimension `service`. */
  service: "onceonly",
  dimensions: { service: "service", operation: "operation" },
  /** How often each decision was made. This list defines all decisions and their meaning. */
  decisions: {
    /** The handler ran and its result or final error is recorded. */
    executed: "Executed",
    /** Answered from the record. */
    replayed: "Replayed",
    /** Refused: the call carries no idempotency key. */
    "key-missing": "KeyMissing",
    /** Refused: no verified caller. `scope` returned none, or no known secret signed the webhook. */
    "caller-refused": "CallerRefused",
    /** The message carries no key, so the source's own id is used instead; a redrive or a second send changes that id. */
    "key-fallback": "KeyFallback",
    /** Refused: another call holds a live claim. */
    "in-progress": "InProgress",
    /** Refused: an earlier attempt ended with an unknown outcome that must be resolved first. */
    held: "Held",
    /** Refused: same key, other fingerprint. */
    mismatch: "Mismatch",
    /** Claimed after an earlier attempt's lease had ended; the handler runs next. */
    "taken-over": "TakenOver",
    /**
     * It was unknown how an earlier attempt ended, and `verify` answered that its effect happened: its result is recorded now.
     */
    verified: "Verified",
    /** This attempt lost its claim and recorded nothing. */
    "claim-lost": "ClaimLost",
    /** The handler ran, but its result could not be recorded before the deadline. */
    "completion-lost": "CompletionLost",
    /** The attempt ended and it's unknown whether its effect happened; its lease runs out. */
    "outcome-unknown": "OutcomeUnknown",
    /** A request to the store failed. */
    "store-failed": "StoreFailed",
    /** The handler runs without a claim: the key was missing, or the store failed and the options allow it. */
    "ran-unprotected": "RanUnprotected",
    /** The attempt failed before it had an effect; a retry may run. */
    released: "Released",
    /** A key was used again after its retention. */
    "key-expired": "KeyExpired",
    /** Permission to request several records of a batch together is missing: from now on each is requested separately. */
    "group-refused": "GroupRefused",
    /** The same payload came under several new keys: its caller may create a key for each try. */
    "new-keys": "NewKeys",
    /** The database's clock and ours differ by more than the configured skew. */
    "clock-skewed": "ClockSkewed",
  },
  /** How long calls with these decisions took, in milliseconds. */
  durations: { executed: "ExecutedDuration", replayed: "ReplayedDuration" },
  /** How long a key had been in progress when a call was refused because of it, in milliseconds. */
  inProgressAge: "InProgressAge",
  /** Counts commits: messages sent, not sent, or parked. */
  outboxEvents: { sent: "OutboxSent", "send-failed": "OutboxSendFailed", parked: "OutboxParked" },
  /** The time since the commit, in milliseconds. */
  outboxLag: "OutboxLag",
  /** Reported once per sweep: waiting commits, the age of the oldest (ms), and parked commits. */
  outboxBacklog: { waiting: "OutboxBacklog", oldestMs: "OutboxBacklogAge", parked: "OutboxParkedBacklog" },
  /** Reported once per reconciler run: the state of the cache in front of its store. */
  cacheChecks: { confirmed: "CacheConfirmed", dropped: "CacheDropped", unchecked: "CacheUnchecked" },
  /** Counts keys with an unknown outcome, by the reconciler's verdict. */
  settlingEvents: {
    happened: "SettledAsHappened",
    "did-not-happen": "SettledAsNotHappened",
    unknown: "StillUnknown",
    unasked: "NobodyAsked",
    unrecorded: "VerdictUnrecorded",
  },
  /** How long a key's outcome had been unknown when the reconciler settled it, in milliseconds. */
  settlingTime: "SettlingTime",
  /** Left after each reconciler run: keys with an unknown outcome, those that no `verify` covers, the oldest's age (ms). */
  unsettled: { keys: "UnsettledKeys", unasked: "UnsettledUnaskedKeys", oldestMs: "UnsettledAge" },
} as const;

/**
 * The text that CloudWatch accepts as a namespace, and as the value of a dimension that an alarm watches: printable ASCII.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_Metric.html and API_Dimension.html
 */
export const NAMESPACE_PATTERN = /^(?!AWS\/|:)(?=.*\S)[\x20-\x7e]{1,255}$/;
/** CloudWatch accepts 1,024 characters; aws-cdk-lib refuses more than 255, so a longer name could have no alarm. */
export const DIMENSION_PATTERN = /^(?=.*\S)[\x20-\x7e]{1,255}$/;

/** The value of the dimension `operation`: as in the record's key, with the other characters escaped that CloudWatch refuses. */
export function operationDimension(operation: string): string {
  return operation.replace(/[#%]|^ +$|[^\x20-\x7e]/gu, encodeURIComponent);
}

/** The step that records that the saga has turned back. */
export const TURNED_BACK = "/turned-back";
/** The step that records that the saga has stopped and can only go on. */
export const STOPPED = "/stopped";

/**
 * Names that infrastructure and runtime share, so that a construct, a policy, a metric and a stored
 * record cannot drift apart. Imports nothing; both halves of the package import it.
 */

/** The address of the project: types of problems and links to the runbook begin with it, and package.json names it. */
export const PROJECT_URL = "https://github.com/onceonly/onceonly";

/** The version of a stored record that uses no feature beyond those of the first release. */
export const RECORD_VERSION = 1;

/**
 * What a reader must know before it may act on a record. A record adds the bits of the features that it uses to its version,
 * as long as it uses them, so code that doesn't know one of them refuses the record (it fails closed) and reads all others. The
 * next feature gets the bit 4.
 */
export const RECORD_FEATURES = {
  /** An attempt resumes after them, or has to find out how they ended: a reader that overlooks them runs them again. */
  steps: 2,
} as const;

/** The version of a record with steps. */
export const STEPS_VERSION = RECORD_VERSION | RECORD_FEATURES.steps;

/** The versions that this code reads. */
export const RECORD_VERSIONS: readonly number[] = [RECORD_VERSION, STEPS_VERSION];

/**
 * The longest that Lambda lets an invocation run, in seconds: 90 minutes on Managed Instances for asynchronous invocations and
 * event source mappings, 15 minutes (900) everywhere else.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-timeout.html
 */
export const LONGEST_INVOCATION_SECONDS = 5400;

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
 * The sparse index in which the sweeper finds records with messages that nobody has sent. Partition key `unsentShard`
 * (number); sort key `unsentSince` (number, epoch ms), the time of the commit, then of the next try; keys only.
 * Records without such messages are not in the index.
 */
export const OUTBOX_INDEX = "outbox";

/**
 * How many partitions that index spreads over, from 0, unless table, store and sweeper are given another number. Commits
 * whose first message is of the same group of a FIFO destination share one, and are found there in the order of their
 * commits. Each takes some 500 commits a second.
 */
export const OUTBOX_SHARDS = 8;

/**
 * The sparse index in which held keys and abandoned attempts are found, of keys only. Partition key: `unsettledShard`
 * (number). Sort key: `unsettledSince` (number, epoch ms), the end of the claim's first lease, or when the key was held. It
 * has records of operations that hold or verify, from their claim to their end, and held records.
 */
export const UNSETTLED_INDEX = "unsettled";

/** How many partitions that index spreads over, from 0. Each takes some 500 calls a second. */
export const UNSETTLED_SHARDS = 8;

/**
 * Without these nobody has anything sent, or keeps it from being sent: who commits no messages is not to write them. The
 * last three are of senders alone.
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

/** The partition for commits that have parked messages and no others left, beside each that is swept. */
export const parkedShard = (shard: number): number => -1 - shard;

/** Stands for the number of shards where nobody would send what is committed. */
export const NO_OUTBOX = "none";

/** A leap year. No handler honours a record for longer, unless `longRetention` says so; a day in milliseconds is more. */
export const MAX_RETENTION_SECONDS = 31_622_400;

/** Ten years. */
export const MAX_LONG_RETENTION_SECONDS = 315_360_000;

/** How long a caller of a held key waits before the next try, and the engine before it asks `verify` again. */
export const HELD_RETRY_SECONDS = 60;

/** Environment variables that the constructs set and a handler reads. */
export const ENVIRONMENT = {
  idempotencyTable: "IDEMPOTENCY_TABLE",
  retentionSeconds: "IDEMPOTENCY_RETENTION_SECONDS",
  /** For functions that run operations: `none`, or the number of shards for their commits with messages. */
  outbox: "IDEMPOTENCY_OUTBOX",
  /** For relay and sweeper: a JSON list of the destinations that they may send to. */
  outboxDestinations: "OUTBOX_DESTINATIONS",
  /** For relay and sweeper: the number of shards for commits that wait. */
  outboxShards: "OUTBOX_SHARDS",
  /** For relay and sweeper: the names of key, TTL attribute and index where they are others, in JSON. */
  outboxTable: "OUTBOX_TABLE",
  metricsService: "METRICS_SERVICE",
  metricsNamespace: "METRICS_NAMESPACE",
} as const;

/** The message attribute that holds the envelope: the idempotency key that travels with a message. */
export const ENVELOPE_ATTRIBUTE = "OnceonlyEnvelope";

/** Version of the envelope. One of another version counts as absent. */
export const ENVELOPE_VERSION = 1;

/** CloudWatch metrics: `emfMetrics` writes them, `IdempotencyMonitoring` watches them. */
export const METRICS = {
  /** The namespace, unless both are given another one. */
  namespace: "Onceonly",
  /** The value of the dimension `service`, unless both are given another one. */
  service: "onceonly",
  dimensions: { service: "service", operation: "operation" },
  /** How often each decision was made. This is the list of all decisions, and says what each means. */
  decisions: {
    /** The handler ran and its result or final error is recorded. */
    executed: "Executed",
    /** Answered from the record. */
    replayed: "Replayed",
    /** Refused: the call carries no idempotency key. */
    "key-missing": "KeyMissing",
    /** The message carries no key, so the source's own name for it stands in: a redrive or a second send changes that. */
    "key-fallback": "KeyFallback",
    /** Refused: somebody else holds a live claim. */
    "in-progress": "InProgress",
    /** Refused: an earlier attempt ended with an unknown outcome, and somebody must resolve it. */
    held: "Held",
    /** Refused: same key, other fingerprint. */
    mismatch: "Mismatch",
    /** Claimed after the lease of a former attempt had ended; the handler runs next. */
    "taken-over": "TakenOver",
    /** Nobody knew how a former attempt had ended, and `verify` says that its effect happened: its result is recorded now. */
    verified: "Verified",
    /** This attempt lost its claim and recorded nothing. */
    "claim-lost": "ClaimLost",
    /** The handler ran, but its result could not be recorded before the deadline. */
    "completion-lost": "CompletionLost",
    /** The attempt ended, and nobody knows whether its effect happened; its lease runs out. */
    "outcome-unknown": "OutcomeUnknown",
    /** A request to the store failed. */
    "store-failed": "StoreFailed",
    /** The handler runs without a claim: the key was missing, or the store failed and the options allow it. */
    "ran-unprotected": "RanUnprotected",
    /** The attempt failed before it had an effect; a retry may run. */
    released: "Released",
    /** A key was used again after its retention. */
    "key-expired": "KeyExpired",
    /** Records of a batch cannot be asked for together, for lack of a right: each is asked for alone from now on. */
    "group-refused": "GroupRefused",
    /** One payload came under several keys that nobody had used: its caller may make a key for each try. */
    "new-keys": "NewKeys",
    /** The database's clock and ours differ by more than the configured skew. */
    "clock-skewed": "ClockSkewed",
  },
  /** How long the calls took that ended in these decisions, in milliseconds. */
  durations: { executed: "ExecutedDuration", replayed: "ReplayedDuration" },
  /** How long a key had been in progress when a call was refused for it, in milliseconds. */
  inProgressAge: "InProgressAge",
  /** Counts commits: messages sent, not sent, or parked. */
  outboxEvents: { sent: "OutboxSent", "send-failed": "OutboxSendFailed", parked: "OutboxParked" },
  /** How long after their commit that was, in milliseconds. */
  outboxLag: "OutboxLag",
  /** What the sweeper found, once in each sweep: commits that wait, how old the oldest is (ms), and commits that are parked. */
  outboxBacklog: { waiting: "OutboxBacklog", oldestMs: "OutboxBacklogAge", parked: "OutboxParkedBacklog" },
  /** What the reconciler found in the cache in front of its store, once in each run. */
  cacheChecks: { confirmed: "CacheConfirmed", dropped: "CacheDropped", unchecked: "CacheUnchecked" },
  /** Counts keys of unknown outcome, by what the reconciler has learnt of each. */
  settlingEvents: {
    happened: "SettledAsHappened",
    "did-not-happen": "SettledAsNotHappened",
    unknown: "StillUnknown",
    unasked: "NobodyAsked",
    unrecorded: "VerdictUnrecorded",
  },
  /** For how long nobody had known about a key when the reconciler settled it, in milliseconds. */
  settlingTime: "SettlingTime",
  /** What each run of the reconciler left: keys of unknown outcome, those about which nobody can be asked, the oldest's age (ms). */
  unsettled: { keys: "UnsettledKeys", unasked: "UnsettledUnaskedKeys", oldestMs: "UnsettledAge" },
} as const;

/**
 * What CloudWatch takes as a namespace, and as the value of a dimension that an alarm watches: printable ASCII.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_Metric.html and API_Dimension.html
 */
export const NAMESPACE_PATTERN = /^(?!AWS\/|:)(?=.*\S)[\x20-\x7e]{1,255}$/;
/** CloudWatch accepts 1,024 characters; aws-cdk-lib refuses more than 255, so a longer name could have no alarm. */
export const DIMENSION_PATTERN = /^(?=.*\S)[\x20-\x7e]{1,255}$/;

/** The value of the dimension `operation`: as in the record's key, with all else escaped that CloudWatch refuses */
export function operationDimension(operation: string): string {
  return operation.replace(/[#%]|^ +$|[^\x20-\x7e]/gu, encodeURIComponent);
}

/** The step that says that the saga has turned back. */
export const TURNED_BACK = "/turned-back";
/** The step that says that the saga can only go on, and has stopped. */
export const STOPPED = "/stopped";

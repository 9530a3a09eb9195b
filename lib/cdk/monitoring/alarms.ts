// The alarms of IdempotencyMonitoring: their meaning, and their default thresholds.
import { PROJECT_URL } from "../../contract.ts";
import type { AlarmThresholds, IdempotencyAlarmProps } from "./thresholds.ts";

/** Names an alarm, and its section in docs/operate/runbook.md. */
export type AlarmKind = keyof typeof MEANINGS;

/** The first sentence of each alarm's description. */
export const MEANINGS = {
  "replay-rate": "Of all answers, many are replays: callers or queues repeat themselves.",
  "replay-spike": "Replays are far more than they usually are at this time.",
  mismatches: "Many keys came back with another payload, and were refused.",
  "mismatch-spike":
    "Keys that come back with another payload are far more than they usually are at this time.",
  "new-keys":
    "One payload comes under ever new keys: its caller may make a key for each try, and have its effect each time.",
  "in-progress": "Many calls are refused because another one holds the claim of their key.",
  "in-progress-age": "A key has been in progress for longer than its attempts may take: nobody finishes it.",
  held: "A key is held: an attempt ended with an unknown outcome, and nobody may run until it is resolved.",
  "taken-over":
    "An attempt ended without a word, by a crash or a timeout, and another one took its key over.",
  "claim-lost":
    "An attempt ran longer than its claim, or beside another one: what it did outside may be done twice.",
  "completion-lost": "A handler ran, but its result could not be recorded: a retry will run it again.",
  "ran-unprotected": "Handlers ran without a claim: nothing keeps their effects from happening twice.",
  "outcome-unknown":
    "An attempt ended, and nobody knows whether its effect happened: a retry will run after its lease.",
  "unsettled-age":
    "For long nobody has known whether the effect of an attempt happened, and the reconciler cannot settle its key, or does not run.",
  "store-failures":
    "Requests to the table failed: calls are refused, or run unprotected where the options say so.",
  "table-throttles": "DynamoDB throttles requests to the table of the records.",
  "outbox-lag": "Committed messages were sent late.",
  "send-failed": "Committed messages could not be sent; they are tried again.",
  "outbox-age": "A committed message has waited for long to be sent, or the sweeper does not run.",
  "outbox-backlog": "The messages of many commits wait to be sent.",
  "outbox-parked": "Committed messages are parked: nobody sends them until somebody says so.",
  "relay-iterator-age": "The relay falls behind the table's stream, which forgets after 24 hours.",
  "dead-letters": "Messages were given up and wait in a dead-letter queue.",
  "dead-letter-age":
    "Messages wait in a dead-letter queue for long, and are deleted when its retention ends.",
  "function-errors": "Invocations of a function fail.",
  "work-near-lease":
    "The slowest runs of a function come close to its timeout, and so to the end of their leases.",
} as const;

/** The property that holds the thresholds of each alarm. */
export const THRESHOLD_PROPERTIES = {
  "replay-rate": "addReplayRateAlarm",
  "replay-spike": "addReplaySpikeAlarm",
  mismatches: "addMismatchesAlarm",
  "mismatch-spike": "addMismatchSpikeAlarm",
  "new-keys": "addNewKeysAlarm",
  "in-progress": "addInProgressAlarm",
  "in-progress-age": "addInProgressAgeAlarm",
  held: "addHeldAlarm",
  "taken-over": "addTakenOverAlarm",
  "claim-lost": "addClaimLostAlarm",
  "completion-lost": "addCompletionLostAlarm",
  "ran-unprotected": "addRanUnprotectedAlarm",
  "outcome-unknown": "addOutcomeUnknownAlarm",
  "unsettled-age": "addUnsettledAgeAlarm",
  "store-failures": "addStoreFailuresAlarm",
  "table-throttles": "addTableThrottlesAlarm",
  "outbox-lag": "addOutboxLagAlarm",
  "send-failed": "addSendFailedAlarm",
  "outbox-age": "addOutboxAgeAlarm",
  "outbox-backlog": "addOutboxBacklogAlarm",
  "outbox-parked": "addOutboxParkedAlarm",
  "relay-iterator-age": "addRelayIteratorAgeAlarm",
  "dead-letters": "addDeadLettersAlarm",
  "dead-letter-age": "addDeadLetterAgeAlarm",
  "function-errors": "addFunctionErrorsAlarm",
  "work-near-lease": "addWorkNearLeaseAlarm",
} as const satisfies Readonly<Record<AlarmKind, keyof IdempotencyAlarmProps>>;

/** The TSDoc of the properties says the same; a test compares them. */
export const DEFAULT_THRESHOLDS: Readonly<Record<AlarmKind, AlarmThresholds>> = {
  "replay-rate": { Warning: { threshold: 10, evaluationPeriods: 3 } },
  "replay-spike": {},
  mismatches: { Warning: { threshold: 20, evaluationPeriods: 3 } },
  "mismatch-spike": {},
  "new-keys": {},
  "in-progress": { Warning: { threshold: 20, evaluationPeriods: 3 } },
  "in-progress-age": { Warning: { threshold: 900000 } },
  held: { Critical: { threshold: 0 } },
  "taken-over": { Warning: { threshold: 0 } },
  "claim-lost": { Warning: { threshold: 0 } },
  "completion-lost": { Critical: { threshold: 0 } },
  "ran-unprotected": { Critical: { threshold: 0 } },
  "outcome-unknown": { Warning: { threshold: 0 } },
  "unsettled-age": { Warning: { threshold: 900000 }, Critical: { threshold: 14400000 } },
  "store-failures": { Warning: { threshold: 0 }, Critical: { threshold: 0, evaluationPeriods: 3 } },
  "table-throttles": { Warning: { threshold: 0 }, Critical: { threshold: 0, evaluationPeriods: 3 } },
  "outbox-lag": { Warning: { threshold: 60000 }, Critical: { threshold: 900000 } },
  "send-failed": { Warning: { threshold: 0, evaluationPeriods: 3 } },
  "outbox-age": { Warning: { threshold: 900000 }, Critical: { threshold: 14400000 } },
  "outbox-backlog": { Warning: { threshold: 10000, evaluationPeriods: 3 } },
  "outbox-parked": { Critical: { threshold: 0 } },
  "relay-iterator-age": { Warning: { threshold: 60000 }, Critical: { threshold: 43200000 } },
  "dead-letters": { Warning: { threshold: 0 } },
  "dead-letter-age": { Critical: { threshold: 86400 } },
  "function-errors": { Warning: { threshold: 0 } },
  "work-near-lease": { Warning: { threshold: 80, evaluationPeriods: 3 } },
};

/** Alarms whose threshold is the width of a band around what CloudWatch expects. */
export const SPIKES: ReadonlySet<AlarmKind> = new Set(["replay-spike", "mismatch-spike"] as const);

/** The defaults of the construct. */
export const MONITORING_DEFAULTS = { alarms: "all", compositeAlarms: false } as const;

/** The defaults of a threshold, and the settings that all alarms share. */
export const DEFAULT_EVALUATION = { evaluationPeriods: 1, periodMinutes: 5 } as const;
export const DEFAULT_RUNBOOK_URL = `${PROJECT_URL}/blob/main/docs/operate/runbook.md`;

/** Which of the default alarms an `IdempotencyMonitoring` has. */
export const ALARM_PRESETS = ["all", "critical", "none"] as const;
export type AlarmPreset = (typeof ALARM_PRESETS)[number];

export function defaultThresholds(kind: AlarmKind, preset: AlarmPreset): AlarmThresholds {
  if (preset === "none") return {};
  const { Warning, Critical } = DEFAULT_THRESHOLDS[kind];
  return { ...(Warning && preset === "all" && { Warning }), ...(Critical && { Critical }) };
}

// The alarms of IdempotencyMonitoring: their descriptions and default thresholds.
import { PROJECT_URL } from "../../contract.ts";
import type { AlarmThresholds, IdempotencyAlarmProps } from "./thresholds.ts";

/** The name of an alarm and of its section in docs/operate/runbook.md. */
export type AlarmKind = keyof typeof MEANINGS;

/** The first sentence of each alarm's description. */
export const MEANINGS = {
  "replay-rate": "Many responses are replays: callers or queues are repeating themselves.",
  "replay-spike": "There are far more replays than usual for this time.",
  mismatches: "Many calls reused a key with a different payload and were refused.",
  "mismatch-spike": "Far more calls than usual for this time reused a key with a different payload.",
  "new-keys":
    "The same payload keeps arriving under new keys: its caller may make a key for each retry, and then each retry has its effect.",
  "in-progress": "Many calls are refused because another call holds the claim on their key.",
  "in-progress-age":
    "A key has been in progress for longer than its attempts can last: no attempt is finishing it.",
  held: "A key is held: an attempt ended with an unknown outcome, and no retry may run until it's resolved.",
  "taken-over": "An attempt died in a crash or a timeout, and another one took over its key.",
  "claim-lost":
    "An attempt outlived its claim or overlapped another one: its external effects may have happened twice.",
  "completion-lost": "A handler ran, but its result couldn't be recorded: a retry will run it again.",
  "ran-unprotected": "Handlers ran without a claim: nothing prevents their effects from happening twice.",
  "outcome-unknown":
    "An attempt ended with an unknown outcome: its effect may have happened, and a retry will run after its lease.",
  "unsettled-age":
    "An outcome has been unknown for a long time: the reconciler can't settle its key, or isn't running.",
  "store-failures":
    "Requests to the table failed: calls are refused, or run unprotected if the options allow it.",
  "table-throttles": "DynamoDB is throttling requests to the records table.",
  "outbox-lag": "Committed messages were sent late.",
  "send-failed": "Committed messages couldn't be sent; the relay retries them.",
  "outbox-age": "A committed message has been waiting for too long, or the sweeper isn't running.",
  "outbox-backlog": "The messages of many commits are waiting to be sent.",
  "outbox-parked":
    "Committed messages are parked: they won't be sent until an operator retries or drops them.",
  "relay-iterator-age":
    "The relay is falling behind the table's stream, which keeps changes for only 24 hours.",
  "dead-letters": "Messages failed every delivery and are waiting in a dead-letter queue.",
  "dead-letter-age":
    "Messages have been in a dead-letter queue for a long time, and are deleted when its retention ends.",
  "function-errors": "Invocations of a function are failing.",
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

/** The same as the properties' `@default`; a test compares them. */
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

/** Alarms whose threshold is the width of a band around the values that CloudWatch expects. */
export const SPIKES: ReadonlySet<AlarmKind> = new Set(["replay-spike", "mismatch-spike"] as const);

/** The defaults of the construct. */
export const MONITORING_DEFAULTS = { alarms: "all", compositeAlarms: false } as const;

/** The default evaluation of a threshold. */
export const DEFAULT_EVALUATION = { evaluationPeriods: 1, periodMinutes: 5 } as const;
export const DEFAULT_RUNBOOK_URL = `${PROJECT_URL}/blob/main/docs/operate/runbook.md`;

/** Which of the default alarms an `IdempotencyMonitoring` creates. */
export const ALARM_PRESETS = ["all", "critical", "none"] as const;
export type AlarmPreset = (typeof ALARM_PRESETS)[number];

/** @param longestRunMs the longest timeout of the watched functions: a key in progress for less than that is normal */
export function defaultThresholds(
  kind: AlarmKind,
  preset: AlarmPreset,
  longestRunMs: number,
): AlarmThresholds {
  if (preset === "none") return {};
  const { Warning: warning, Critical } = DEFAULT_THRESHOLDS[kind];
  const Warning =
    kind === "in-progress-age" && warning
      ? { ...warning, threshold: Math.max(warning.threshold, longestRunMs) }
      : warning;
  return { ...(Warning && preset === "all" && { Warning }), ...(Critical && { Critical }) };
}

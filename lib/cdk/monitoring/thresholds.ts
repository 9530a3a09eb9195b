// The thresholds of the alarms of IdempotencyMonitoring.
import type { Duration } from "aws-cdk-lib";
import type { IAlarmAction } from "aws-cdk-lib/aws-cloudwatch";

/** How bad it is: a warning is for office hours, and what is critical wakes somebody. */
export const SEVERITIES = ["Warning", "Critical"] as const;
export type AlarmSeverity = (typeof SEVERITIES)[number];

/** An alarm for each severity that is given. */
export type AlarmThresholds = { readonly [Severity in AlarmSeverity]?: AlarmThreshold };

/** What alarms do: the same in each severity, or something else in each. */
export type AlarmActions = IAlarmAction[] | { readonly [Severity in AlarmSeverity]?: IAlarmAction[] };

/** The threshold of an alarm, which is raised while its metric is greater than `threshold`. */
export interface AlarmThreshold {
  /** In the unit of the metric, which the property of the alarm names. */
  readonly threshold: number;

  /**
   * Over how many periods the metric is looked at.
   *
   * @default 1
   */
  readonly evaluationPeriods?: number;

  /**
   * In how many of these periods it must be greater than the threshold.
   *
   * @default - all of them
   */
  readonly datapointsToAlarm?: number;

  /**
   * The length of a period.
   *
   * @default Duration.minutes(5)
   */
  readonly period?: Duration;

  /**
   * What happens when the alarm of this severity is raised.
   *
   * @default - `alarmActions` of the construct
   */
  readonly alarmActions?: IAlarmAction[];

  /**
   * What happens when the alarm of this severity is over.
   *
   * @default - `okActions` of the construct
   */
  readonly okActions?: IAlarmAction[];
}

/**
 * The alarms of an {@link IdempotencyMonitoring}. Each property maps the severities `Warning` and
 * `Critical` to thresholds: each severity is an alarm, and `{}` is no alarm. Alarms of resources that are
 * not given, such as a relay, do not exist. The preset `alarms` chooses among the defaults.
 */
export interface IdempotencyAlarmProps {
  /**
   * Replays, in percent of replays and executions: of each of `operations`, or of all together. A period with fewer than 20 answers
   * raises no alarm.
   *
   * @default { Warning: { threshold: 10, evaluationPeriods: 3 } }
   */
  readonly addReplayRateAlarm?: AlarmThresholds;

  /**
   * Replays above the band that CloudWatch expects at that time. The threshold is the width of the band in standard deviations: 3
   * is a usual one. CloudWatch learns for two weeks, and bills three metrics for it.
   *
   * @default {}
   */
  readonly addReplaySpikeAlarm?: AlarmThresholds;

  /**
   * Calls with a known key and another payload. One caller that repeats a bad key now and then stays below the default.
   *
   * @default { Warning: { threshold: 20, evaluationPeriods: 3 } }
   */
  readonly addMismatchesAlarm?: AlarmThresholds;

  /**
   * Such calls above the band that CloudWatch expects at that time, as of `addReplaySpikeAlarm`.
   *
   * @default {}
   */
  readonly addMismatchSpikeAlarm?: AlarmThresholds;

  /**
   * New keys for a payload that came under several before, as `watchNewKeys` tells them.
   *
   * @default {}
   */
  readonly addNewKeysAlarm?: AlarmThresholds;

  /**
   * Calls refused because another one holds a live claim. One caller that repeats one key now and then stays below the default.
   *
   * @default { Warning: { threshold: 20, evaluationPeriods: 3 } }
   */
  readonly addInProgressAlarm?: AlarmThresholds;

  /**
   * The longest time that a key had been in progress when a call was refused for it, in milliseconds.
   *
   * @default { Warning: { threshold: 900000 } }
   */
  readonly addInProgressAgeAlarm?: AlarmThresholds;

  /**
   * Calls refused because the outcome of an earlier attempt is unknown.
   *
   * @default { Critical: { threshold: 0 } }
   */
  readonly addHeldAlarm?: AlarmThresholds;

  /**
   * Claims of which the former attempt had not ended by itself.
   *
   * @default { Warning: { threshold: 0 } }
   */
  readonly addTakenOverAlarm?: AlarmThresholds;

  /**
   * Attempts that lost their claim.
   *
   * @default { Warning: { threshold: 0 } }
   */
  readonly addClaimLostAlarm?: AlarmThresholds;

  /**
   * Results that could not be recorded.
   *
   * @default { Critical: { threshold: 0 } }
   */
  readonly addCompletionLostAlarm?: AlarmThresholds;

  /**
   * Runs without a claim. Switch it off where the options of an operation allow them.
   *
   * @default { Critical: { threshold: 0 } }
   */
  readonly addRanUnprotectedAlarm?: AlarmThresholds;

  /**
   * Attempts with an unknown end.
   *
   * @default { Warning: { threshold: 0 } }
   */
  readonly addOutcomeUnknownAlarm?: AlarmThresholds;

  /**
   * For how long nobody has known about the oldest key of unknown outcome, in milliseconds, as each run of the reconciler
   * finds it. No run raises the alarm too: missing data breaches.
   *
   * @default { Warning: { threshold: 900000 }, Critical: { threshold: 14400000 } }
   */
  readonly addUnsettledAgeAlarm?: AlarmThresholds;

  /**
   * Failed requests to the table, as operations see them.
   *
   * @default { Warning: { threshold: 0 }, Critical: { threshold: 0, evaluationPeriods: 3 } }
   */
  readonly addStoreFailuresAlarm?: AlarmThresholds;

  /**
   * Throttled requests to the table, as DynamoDB counts them. Only the first construct of an app that watches a table has
   * this alarm by default.
   *
   * @default { Warning: { threshold: 0 }, Critical: { threshold: 0, evaluationPeriods: 3 } }
   */
  readonly addTableThrottlesAlarm?: AlarmThresholds;

  /**
   * The longest time between a commit and the sending of its messages, in milliseconds.
   *
   * @default { Warning: { threshold: 60000 }, Critical: { threshold: 900000 } }
   */
  readonly addOutboxLagAlarm?: AlarmThresholds;

  /**
   * Commits whose messages could not be sent.
   *
   * @default { Warning: { threshold: 0, evaluationPeriods: 3 } }
   */
  readonly addSendFailedAlarm?: AlarmThresholds;

  /**
   * How long ago the oldest commit was made whose messages wait to be sent, in milliseconds, as each sweep finds it.
   * With `sweeper`, no sweep raises the alarm too: missing data breaches.
   *
   * @default { Warning: { threshold: 900000 }, Critical: { threshold: 14400000 } }
   */
  readonly addOutboxAgeAlarm?: AlarmThresholds;

  /**
   * Commits whose messages wait to be sent, as each sweep finds them.
   *
   * @default { Warning: { threshold: 10000, evaluationPeriods: 3 } }
   */
  readonly addOutboxBacklogAlarm?: AlarmThresholds;

  /**
   * Commits that have parked messages and no others to send, as each sweep finds them.
   *
   * @default { Critical: { threshold: 0 } }
   */
  readonly addOutboxParkedAlarm?: AlarmThresholds;

  /**
   * The age of what the relay reads from the stream, in milliseconds.
   *
   * @default { Warning: { threshold: 60000 }, Critical: { threshold: 43200000 } }
   */
  readonly addRelayIteratorAgeAlarm?: AlarmThresholds;

  /**
   * Messages in a dead-letter queue.
   *
   * @default { Warning: { threshold: 0 } }
   */
  readonly addDeadLettersAlarm?: AlarmThresholds;

  /**
   * The age of the oldest message in a dead-letter queue, in seconds.
   *
   * @default { Critical: { threshold: 86400 } }
   */
  readonly addDeadLetterAgeAlarm?: AlarmThresholds;

  /**
   * Failed invocations of a function, the relay and the sweeper included.
   *
   * @default { Warning: { threshold: 0 } }
   */
  readonly addFunctionErrorsAlarm?: AlarmThresholds;

  /**
   * How long the slowest runs (p99) of each of `functions` take, in percent of its timeout: its leases end with it. Functions that are
   * imported, or whose timeout is known at deployment only, have no such alarm.
   *
   * @default { Warning: { threshold: 80, evaluationPeriods: 3 } }
   */
  readonly addWorkNearLeaseAlarm?: AlarmThresholds;
}

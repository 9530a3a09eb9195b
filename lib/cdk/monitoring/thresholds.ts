// The thresholds of the alarms of IdempotencyMonitoring.
import type { Duration } from "aws-cdk-lib";
import type { IAlarmAction } from "aws-cdk-lib/aws-cloudwatch";

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
}

/**
 * The alarms of an {@link IdempotencyMonitoring}. Each property maps severities, such as `Warning` and
 * `Critical`, to thresholds: each severity is an alarm, and `{}` is no alarm. Alarms of resources that are
 * not given, such as a relay, do not exist.
 */
export interface IdempotencyAlarmProps {
  /**
   * Replays, in percent of replays and executions.
   *
   * @default {}
   */
  readonly addReplayRateAlarm?: Record<string, AlarmThreshold>;

  /**
   * Calls with a known key and another payload.
   *
   * @default { Warning: { threshold: 0 } }
   */
  readonly addMismatchesAlarm?: Record<string, AlarmThreshold>;

  /**
   * Calls refused because another one holds a live claim.
   *
   * @default { Warning: { threshold: 0, evaluationPeriods: 3 } }
   */
  readonly addInProgressAlarm?: Record<string, AlarmThreshold>;

  /**
   * The longest time that a key had been in progress when a call was refused for it, in milliseconds.
   *
   * @default { Warning: { threshold: 900000 } }
   */
  readonly addInProgressAgeAlarm?: Record<string, AlarmThreshold>;

  /**
   * Calls refused because the outcome of an earlier attempt is unknown.
   *
   * @default { Critical: { threshold: 0 } }
   */
  readonly addHeldAlarm?: Record<string, AlarmThreshold>;

  /**
   * Claims of which the former attempt had not ended by itself.
   *
   * @default { Warning: { threshold: 0 } }
   */
  readonly addTakenOverAlarm?: Record<string, AlarmThreshold>;

  /**
   * Attempts that lost their claim.
   *
   * @default { Warning: { threshold: 0 } }
   */
  readonly addClaimLostAlarm?: Record<string, AlarmThreshold>;

  /**
   * Results that could not be recorded.
   *
   * @default { Critical: { threshold: 0 } }
   */
  readonly addCompletionLostAlarm?: Record<string, AlarmThreshold>;

  /**
   * Runs without a claim. Switch it off where the options of an operation allow them.
   *
   * @default { Critical: { threshold: 0 } }
   */
  readonly addRanUnprotectedAlarm?: Record<string, AlarmThreshold>;

  /**
   * Attempts of which nobody knows how they ended.
   *
   * @default { Warning: { threshold: 0 } }
   */
  readonly addOutcomeUnknownAlarm?: Record<string, AlarmThreshold>;

  /**
   * For how long nobody has known about the oldest key of unknown outcome, in milliseconds, as each run of the reconciler
   * finds it.
   *
   * @default { Warning: { threshold: 900000 }, Critical: { threshold: 14400000 } }
   */
  readonly addUnsettledAgeAlarm?: Record<string, AlarmThreshold>;

  /**
   * Failed requests to the table, as operations see them.
   *
   * @default { Warning: { threshold: 0 }, Critical: { threshold: 0, evaluationPeriods: 3 } }
   */
  readonly addStoreFailuresAlarm?: Record<string, AlarmThreshold>;

  /**
   * Throttled requests to the table, as DynamoDB counts them.
   *
   * @default { Warning: { threshold: 0 }, Critical: { threshold: 0, evaluationPeriods: 3 } }
   */
  readonly addTableThrottlesAlarm?: Record<string, AlarmThreshold>;

  /**
   * The longest time between a commit and the sending of its messages, in milliseconds.
   *
   * @default { Warning: { threshold: 60000 }, Critical: { threshold: 900000 } }
   */
  readonly addOutboxLagAlarm?: Record<string, AlarmThreshold>;

  /**
   * Commits whose messages could not be sent.
   *
   * @default { Warning: { threshold: 0, evaluationPeriods: 3 } }
   */
  readonly addSendFailedAlarm?: Record<string, AlarmThreshold>;

  /**
   * How long ago the oldest commit was made whose messages wait to be sent, in milliseconds, as each sweep finds it.
   *
   * @default { Warning: { threshold: 900000 }, Critical: { threshold: 14400000 } }
   */
  readonly addOutboxAgeAlarm?: Record<string, AlarmThreshold>;

  /**
   * Commits whose messages wait to be sent, as each sweep finds them.
   *
   * @default { Warning: { threshold: 10000, evaluationPeriods: 3 } }
   */
  readonly addOutboxBacklogAlarm?: Record<string, AlarmThreshold>;

  /**
   * Commits that have parked messages and no others to send, as each sweep finds them.
   *
   * @default { Critical: { threshold: 0 } }
   */
  readonly addOutboxParkedAlarm?: Record<string, AlarmThreshold>;

  /**
   * The age of what the relay reads from the stream, in milliseconds.
   *
   * @default { Warning: { threshold: 60000 }, Critical: { threshold: 43200000 } }
   */
  readonly addRelayIteratorAgeAlarm?: Record<string, AlarmThreshold>;

  /**
   * Messages in a dead-letter queue.
   *
   * @default { Warning: { threshold: 0 } }
   */
  readonly addDeadLettersAlarm?: Record<string, AlarmThreshold>;

  /**
   * The age of the oldest message in a dead-letter queue, in seconds.
   *
   * @default { Critical: { threshold: 86400 } }
   */
  readonly addDeadLetterAgeAlarm?: Record<string, AlarmThreshold>;

  /**
   * Failed invocations of a function, the relay and the sweeper included.
   *
   * @default { Warning: { threshold: 0 } }
   */
  readonly addFunctionErrorsAlarm?: Record<string, AlarmThreshold>;
}

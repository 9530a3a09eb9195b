// The thresholds of the alarms of IdempotencyMonitoring.
import type { Duration } from "aws-cdk-lib";
import type { IAlarmAction } from "aws-cdk-lib/aws-cloudwatch";

/** How urgent an alarm is: a warning can wait for office hours, a critical alarm wakes the person on call. */
export const SEVERITIES = ["Warning", "Critical"] as const;
export type AlarmSeverity = (typeof SEVERITIES)[number];

/** Creates an alarm for each severity in the object. */
export type AlarmThresholds = { readonly [Severity in AlarmSeverity]?: AlarmThreshold };

/** The actions of alarms: one list for all severities, or one for each. */
export type AlarmActions = IAlarmAction[] | { readonly [Severity in AlarmSeverity]?: IAlarmAction[] };

/** The threshold of an alarm, which fires while its metric is greater than `threshold`. */
export interface AlarmThreshold {
  /** In the metric's unit, which is documented on the alarm's property. */
  readonly threshold: number;

  /**
   * The number of periods that are evaluated.
   *
   * @default 1
   */
  readonly evaluationPeriods?: number;

  /**
   * The number of these periods in which the metric must be greater than the threshold.
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
   * The actions when the alarm of this severity fires.
   *
   * @default - `alarmActions` of the construct
   */
  readonly alarmActions?: IAlarmAction[];

  /**
   * The actions when the alarm of this severity returns to OK.
   *
   * @default - `okActions` of the construct
   */
  readonly okActions?: IAlarmAction[];
}

/**
 * The alarms of an {@link IdempotencyMonitoring}. Each property maps the severities `Warning` and `Critical` to thresholds. Each
 * severity is a separate alarm, and `{}` creates none. If you don't pass a resource, such as a relay, its alarms aren't created.
 * The preset `alarms` selects among the defaults.
 */
export interface IdempotencyAlarmProps {
  /**
   * Replays in percent of replays and executions, for each of `operations` or for all together. A period with fewer than 20
   * answers raises no alarm.
   *
   * @default { Warning: { threshold: 10, evaluationPeriods: 3 } }
   */
  readonly addReplayRateAlarm?: AlarmThresholds;

  /**
   * Replays above the band that CloudWatch expects at that time. The threshold is the width of the band in standard
   * deviations, usually 3. CloudWatch learns for two weeks, and charges for three metrics.
   *
   * @default {}
   */
  readonly addReplaySpikeAlarm?: AlarmThresholds;

  /**
   * Calls with a known key and another payload. A single caller that repeats a bad key occasionally stays below the default.
   *
   * @default { Warning: { threshold: 20, evaluationPeriods: 3 } }
   */
  readonly addMismatchesAlarm?: AlarmThresholds;

  /**
   * Calls with a known key and another payload, above the band that CloudWatch expects: see `addReplaySpikeAlarm`.
   *
   * @default {}
   */
  readonly addMismatchSpikeAlarm?: AlarmThresholds;

  /**
   * New keys for a payload that was already sent under several other keys, as `watchNewKeys` reports them.
   *
   * @default {}
   */
  readonly addNewKeysAlarm?: AlarmThresholds;

  /**
   * Calls refused because another one holds a live claim. A single caller that repeats a key occasionally stays below the
   * default.
   *
   * @default { Warning: { threshold: 20, evaluationPeriods: 3 } }
   */
  readonly addInProgressAlarm?: AlarmThresholds;

  /**
   * The longest time that a key had been in progress when a call was refused for it, in milliseconds. If one of `functions` has
   * a longer timeout than the default, its timeout is the default.
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
   * Claims that took over from a previous attempt that hadn't completed or released its key.
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
   * Runs without a claim. Switch it off if the options of an operation allow them.
   *
   * @default { Critical: { threshold: 0 } }
   */
  readonly addRanUnprotectedAlarm?: AlarmThresholds;

  /**
   * Attempts that ended with an unknown outcome.
   *
   * @default { Warning: { threshold: 0 } }
   */
  readonly addOutcomeUnknownAlarm?: AlarmThresholds;

  /**
   * How long the oldest unsettled key has had an unknown outcome, in milliseconds, as each run of the reconciler finds. The
   * alarm also fires if the reconciler doesn't run: missing data counts as breaching.
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
   * Throttled requests to the table, as DynamoDB counts them. By default, only the first construct of an app that watches a
   * table creates this alarm.
   *
   * @default { Warning: { threshold: 0 }, Critical: { threshold: 0, evaluationPeriods: 3 } }
   */
  readonly addTableThrottlesAlarm?: AlarmThresholds;

  /**
   * The longest time between a commit and sending its messages, in milliseconds.
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
   * The age of the oldest commit with messages waiting to be sent, in milliseconds, as each sweep finds. With `sweeper`, the
   * alarm also fires if no sweep runs: missing data counts as breaching.
   *
   * @default { Warning: { threshold: 900000 }, Critical: { threshold: 14400000 } }
   */
  readonly addOutboxAgeAlarm?: AlarmThresholds;

  /**
   * Commits with messages waiting to be sent, as each sweep finds.
   *
   * @default { Warning: { threshold: 10000, evaluationPeriods: 3 } }
   */
  readonly addOutboxBacklogAlarm?: AlarmThresholds;

  /**
   * Commits that have only parked messages left to send, as each sweep finds.
   *
   * @default { Critical: { threshold: 0 } }
   */
  readonly addOutboxParkedAlarm?: AlarmThresholds;

  /**
   * The age of the changes that the relay reads from the stream, in milliseconds.
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
   * Failed invocations of a function, including the relay and the sweeper.
   *
   * @default { Warning: { threshold: 0 } }
   */
  readonly addFunctionErrorsAlarm?: AlarmThresholds;

  /**
   * The duration of the slowest runs (p99) of each of `functions`, in percent of its timeout, because leases end with the
   * timeout. Imported functions, and those whose timeout is only known at deployment, get no such alarm.
   *
   * @default { Warning: { threshold: 80, evaluationPeriods: 3 } }
   */
  readonly addWorkNearLeaseAlarm?: AlarmThresholds;
}

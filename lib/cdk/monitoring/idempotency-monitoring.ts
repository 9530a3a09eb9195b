// A dashboard and alarms for the operations of a service. They read the metrics of emfMetrics, and those
// of the table, functions and queues.
import { Duration } from "aws-cdk-lib";
import {
  Alarm,
  ComparisonOperator,
  Dashboard,
  type MathExpression,
  type Metric,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { Construct } from "constructs";
import { METRICS } from "../../contract.ts";
import { relativePath } from "../stable-ids.ts";
import { DEFAULT_EVALUATION, DEFAULT_RUNBOOK_URL, MEANINGS, thresholdsOf } from "./alarms.ts";
import { checkMetricNames } from "./checks.ts";
import { widgetRows } from "./dashboard.ts";
import { type IdempotencyMetricOptions, IdempotencyMetrics } from "./metrics.ts";
import type { IdempotencyMonitoringProps } from "./props.ts";
import { type AlarmSource, alarmSources } from "./sources.ts";
import type { AlarmThreshold } from "./thresholds.ts";

/**
 * Watches the operations of one service: a dashboard, and alarms that link to docs/operate/runbook.md. The
 * functions that run operations, the relay, the sweeper and the reconciler need `observe: emfMetrics({ service })`. Without
 * it most of the metrics do not exist, and their alarms stay silent.
 *
 * Missing data raises no alarm, and an alarm does nothing without `alarmActions`.
 */
export class IdempotencyMonitoring extends Construct {
  /** The dashboard, for widgets of your own. */
  readonly dashboard: Dashboard;

  /** All alarms. */
  readonly alarms: readonly Alarm[];

  readonly #metrics: IdempotencyMetrics;

  constructor(scope: Construct, id: string, props: IdempotencyMonitoringProps) {
    super(scope, id);
    const { service = METRICS.service, namespace = METRICS.namespace, dashboardName } = props;
    checkMetricNames(this, { service, namespace }, props);
    this.#metrics = new IdempotencyMetrics(namespace, service);

    this.alarms = alarmSources(props, this.#metrics).flatMap((source) =>
      Object.entries(thresholdsOf(source.kind, props)).map(([severity, threshold]) =>
        this.#addAlarm(source, severity, threshold, props),
      ),
    );
    this.dashboard = new Dashboard(this, "Resource", {
      ...(dashboardName !== undefined && { dashboardName }),
      widgets: widgetRows(props, this.#metrics, this.alarms),
    });
  }

  /** Any metric of `emfMetrics`, by its name. Sum over 5 minutes. */
  metric(metricName: string, options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.metric(metricName, options);
  }

  /** Replays in percent of replays and executions, over 5 minutes. */
  metricReplayRate(options?: IdempotencyMetricOptions): MathExpression {
    return this.#metrics.replayRate(options);
  }

  /** How often a handler ran and its result was recorded. Sum over 5 minutes. */
  metricExecuted(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.decision("executed", options);
  }

  /** How often a record answered. Sum over 5 minutes. */
  metricReplayed(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.decision("replayed", options);
  }

  /** How often a known key came with another payload. Sum over 5 minutes. */
  metricMismatches(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.decision("mismatch", options);
  }

  /** How often a call was refused because another one held a live claim. Sum over 5 minutes. */
  metricInProgress(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.decision("in-progress", options);
  }

  /** How long a key had been in progress when a call was refused for it, in milliseconds. Maximum over 5 minutes. */
  metricInProgressAge(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.inProgressAge(options);
  }

  /** How often a call was refused because its key is held. Sum over 5 minutes. */
  metricHeld(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.decision("held", options);
  }

  /** How often a claim followed an attempt that had not ended by itself. Sum over 5 minutes. */
  metricTakenOver(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.decision("taken-over", options);
  }

  /** How often an attempt lost its claim. Sum over 5 minutes. */
  metricClaimLost(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.decision("claim-lost", options);
  }

  /** How often a result could not be recorded. Sum over 5 minutes. */
  metricCompletionLost(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.decision("completion-lost", options);
  }

  /** How often a handler ran without a claim. Sum over 5 minutes. */
  metricRanUnprotected(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.decision("ran-unprotected", options);
  }

  /** How often an attempt ended and nobody knows how. Sum over 5 minutes. */
  metricOutcomeUnknown(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.decision("outcome-unknown", options);
  }

  /** How often a request to the table failed. Sum over 5 minutes. */
  metricStoreFailures(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.decision("store-failed", options);
  }

  /** How long after their commit messages were sent, in milliseconds. Maximum over 5 minutes. */
  metricOutboxLag(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.outboxLag(options);
  }

  /** How often the messages of a commit could not be sent. Sum over 5 minutes. */
  metricSendFailed(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.outboxEvent("send-failed", options);
  }

  /** How many commits have messages that wait to be sent, as each sweep finds it. Maximum over 5 minutes. */
  metricOutboxBacklog(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.outboxBacklog("waiting", options);
  }

  /** The age of the oldest of them, in milliseconds. Maximum over 5 minutes. */
  metricOutboxAge(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.outboxBacklog("oldestMs", options);
  }

  /** How many commits have parked messages and no others to send, as each sweep finds it. Maximum over 5 minutes. */
  metricOutboxParked(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.outboxBacklog("parked", options);
  }

  /** For how long nobody has known about the oldest key of unknown outcome, in milliseconds. Maximum over 5 minutes. */
  metricUnsettledAge(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.unsettled("oldestMs", options);
  }

  /** For how long nobody had known about a key when the reconciler settled it, in milliseconds. Maximum over 5 minutes. */
  metricSettlingTime(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.settlingTime(options);
  }

  #addAlarm(
    { kind, metric, resource }: AlarmSource,
    severity: string,
    threshold: AlarmThreshold,
    { runbookUrl = DEFAULT_RUNBOOK_URL, alarmActions = [] }: IdempotencyMonitoringProps,
  ): Alarm {
    const { evaluationPeriods = DEFAULT_EVALUATION.evaluationPeriods, datapointsToAlarm } = threshold;
    const period = threshold.period ?? Duration.minutes(DEFAULT_EVALUATION.periodMinutes);
    const name = kind.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
    const of = resource ? relativePath(this, resource) : "";
    const alarm = new Alarm(this, `${name}${severity}${of}`, {
      metric: metric({ period }),
      threshold: threshold.threshold,
      evaluationPeriods,
      ...(datapointsToAlarm !== undefined && { datapointsToAlarm }),
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      alarmDescription: `${severity}: ${MEANINGS[kind]} Runbook: ${runbookUrl}#${kind}`,
    });
    alarm.addAlarmAction(...(threshold.alarmActions ?? alarmActions));
    return alarm;
  }
}

// A dashboard and alarms for the operations of a service. They read the metrics of emfMetrics, the table, functions and
// queues.
import {
  type Alarm,
  type CompositeAlarm,
  Dashboard,
  type MathExpression,
  type Metric,
} from "aws-cdk-lib/aws-cloudwatch";
import { Construct } from "constructs";
import { METRICS } from "../../contract.ts";
import { warnOfWatched } from "../checks/operations.ts";
import { walkOnce } from "../checks/resources.ts";
import { warnOfSharedService } from "../checks/services.ts";
import { injected } from "../injected.ts";
import { checkMetricNames } from "./checks.ts";
import { widgetRows } from "./dashboard.ts";
import { makeAlarms } from "./make-alarms.ts";
import { type IdempotencyMetricOptions, IdempotencyMetrics } from "./metrics.ts";
import type { IdempotencyMonitoringProps } from "./props.ts";
import { alarmSources } from "./sources.ts";
import type { AlarmSeverity } from "./thresholds.ts";

/**
 * Monitors the operations of one service with a dashboard, and with alarms that link to docs/operate/runbook.md. The functions
 * that run operations, the relay, the sweeper and the reconciler need `observe: emfMetrics({ service })`. Without it most of
 * the metrics don't exist, and their alarms never fire.
 *
 * Missing data doesn't raise an alarm, except for the metrics that the sweeper and the reconciler write in each run. Alarms do
 * nothing without `alarmActions`.
 */
export class IdempotencyMonitoring extends Construct {
  /** The id that property injectors of the app use for this construct. */
  static readonly PROPERTY_INJECTION_ID: string = "onceonly.cdk.IdempotencyMonitoring";

  /** The dashboard, so you can add your own widgets. */
  readonly dashboard: Dashboard;

  /** All alarms except the composite ones. */
  readonly alarms: readonly Alarm[];

  /** With `compositeAlarms: true`, the composite alarm of each severity that has alarms. */
  readonly compositeAlarms: { readonly [Severity in AlarmSeverity]?: CompositeAlarm };

  readonly #metrics: IdempotencyMetrics;

  /** @throws Error for names that CloudWatch doesn't accept, and for an unknown severity or preset */
  constructor(scope: Construct, id: string, props: IdempotencyMonitoringProps) {
    super(scope, id);
    props = injected(IdempotencyMonitoring.PROPERTY_INJECTION_ID, scope, id, props);
    const { service = METRICS.service, namespace = METRICS.namespace, dashboardName } = props;
    checkMetricNames(this, { service, namespace }, props);
    this.#metrics = new IdempotencyMetrics(namespace, service);

    warnOfSharedService(this, { service, namespace }, { table: props.table, isWatching: true });
    this.#checkOperations(props);

    const { alarms, compositeAlarms } = makeAlarms(this, props, alarmSources(props, this.#metrics));
    this.alarms = alarms;
    this.compositeAlarms = compositeAlarms;
    this.dashboard = new Dashboard(this, "Resource", {
      ...(dashboardName !== undefined && { dashboardName }),
      widgets: widgetRows(props, this.#metrics, this.alarms),
    });
  }

  /** Functions may be added later. */
  #checkOperations({ table, operations = [] }: IdempotencyMonitoringProps): void {
    walkOnce(this);
    this.node.addValidation({
      validate: () => {
        warnOfWatched(this, table, operations);
        return [];
      },
    });
  }

  /** Any metric of `emfMetrics`, by name. Sum over 5 minutes. */
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

  /** How often a call was answered from its record. Sum over 5 minutes. */
  metricReplayed(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.decision("replayed", options);
  }

  /** How often a known key was used with another payload. Sum over 5 minutes. */
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

  /** How often a claim took over from an attempt that hadn't completed or released its key. Sum over 5 minutes. */
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

  /** How often an attempt ended with an unknown outcome. Sum over 5 minutes. */
  metricOutcomeUnknown(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.decision("outcome-unknown", options);
  }

  /** How often a request to the table failed. Sum over 5 minutes. */
  metricStoreFailures(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.decision("store-failed", options);
  }

  /** How long after its commit a message was sent, in milliseconds. Maximum over 5 minutes. */
  metricOutboxLag(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.outboxLag(options);
  }

  /** How often the messages of a commit could not be sent. Sum over 5 minutes. */
  metricSendFailed(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.outboxEvent("send-failed", options);
  }

  /** How many commits have messages waiting to be sent, as each sweep finds. Maximum over 5 minutes. */
  metricOutboxBacklog(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.outboxBacklog("waiting", options);
  }

  /** The age of the oldest commit with messages waiting to be sent, in milliseconds. Maximum over 5 minutes. */
  metricOutboxAge(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.outboxBacklog("oldestMs", options);
  }

  /** How many commits have only parked messages left to send, as each sweep finds. Maximum over 5 minutes. */
  metricOutboxParked(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.outboxBacklog("parked", options);
  }

  /** How long the oldest unsettled key has had an unknown outcome, in milliseconds. Maximum over 5 minutes. */
  metricUnsettledAge(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.unsettled("oldestMs", options);
  }

  /** How long a key had an unknown outcome before the reconciler settled it, in milliseconds. Maximum over 5 minutes. */
  metricSettlingTime(options?: IdempotencyMetricOptions): Metric {
    return this.#metrics.settlingTime(options);
  }
}

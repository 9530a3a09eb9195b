// The metrics of emfMetrics, under the names that the constructs use.
import { MathExpression, Metric, type MetricOptions, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { METRICS, operationDimension } from "../../contract.ts";

/** Options of a metric that {@link IdempotencyMonitoring} names. */
export interface IdempotencyMetricOptions extends MetricOptions {
  /**
   * Limits the metric to one operation.
   *
   * @default - all operations of the service together
   */
  readonly operation?: string;
}

const { dimensions, decisions, outboxEvents, outboxBacklog, settlingEvents, unsettled } = METRICS;

const ANSWERS = "(FILL(replayed, 0) + FILL(executed, 0))";
const REPLAY_RATE = `100 * FILL(replayed, 0) / ${ANSWERS}`;

/** Below this many answers, a single retry would exceed the default threshold. */
const FEW_ANSWERS = 20;

export class IdempotencyMetrics {
  readonly #namespace: string;
  readonly #service: string;

  constructor(namespace: string, service: string) {
    this.#namespace = namespace;
    this.#service = service;
  }

  metric(metricName: string, { operation, ...options }: IdempotencyMetricOptions = {}): Metric {
    return new Metric({
      namespace: this.#namespace,
      metricName,
      dimensionsMap: {
        [dimensions.service]: this.#service,
        ...(operation !== undefined && { [dimensions.operation]: operationDimension(operation) }),
      },
      statistic: Stats.SUM,
      ...options,
    });
  }

  decision(decision: keyof typeof decisions, options?: IdempotencyMetricOptions): Metric {
    return this.metric(decisions[decision], options);
  }

  outboxEvent(event: keyof typeof outboxEvents, options?: IdempotencyMetricOptions): Metric {
    return this.metric(outboxEvents[event], options);
  }

  /** The sweeper's results: how many commits are waiting, the age of the oldest, and how many are parked. */
  outboxBacklog(of: keyof typeof outboxBacklog, options: IdempotencyMetricOptions = {}): Metric {
    return this.metric(outboxBacklog[of], { statistic: Stats.MAXIMUM, ...options });
  }

  settlingEvent(event: keyof typeof settlingEvents, options?: IdempotencyMetricOptions): Metric {
    return this.metric(settlingEvents[event], options);
  }

  /** The keys that each run of the reconciler left unsettled. */
  unsettled(of: keyof typeof unsettled, options: IdempotencyMetricOptions = {}): Metric {
    return this.metric(unsettled[of], { statistic: Stats.MAXIMUM, ...options });
  }

  settlingTime(options: IdempotencyMetricOptions = {}): Metric {
    return this.metric(METRICS.settlingTime, { statistic: Stats.MAXIMUM, ...options });
  }

  outboxLag(options: IdempotencyMetricOptions = {}): Metric {
    return this.metric(METRICS.outboxLag, { statistic: Stats.MAXIMUM, ...options });
  }

  inProgressAge(options: IdempotencyMetricOptions = {}): Metric {
    return this.metric(METRICS.inProgressAge, { statistic: Stats.MAXIMUM, ...options });
  }

  /** In percent. There's no data without replays or executions. */
  replayRate(options?: IdempotencyMetricOptions): MathExpression {
    return this.#ofAnswers(REPLAY_RATE, options);
  }

  /** The replay rate, or 0 if there are too few answers for a meaningful rate. */
  replayRateOfMany(options?: IdempotencyMetricOptions): MathExpression {
    return this.#ofAnswers(`IF(${ANSWERS} >= ${FEW_ANSWERS}, ${REPLAY_RATE}, 0)`, options);
  }

  #ofAnswers(expression: string, options: IdempotencyMetricOptions = {}): MathExpression {
    const { operation, period, label = "replayed", color } = options;
    const counts = { ...(operation !== undefined && { operation }), ...(period && { period }) };
    return new MathExpression({
      expression,
      usingMetrics: {
        replayed: this.decision("replayed", counts),
        executed: this.decision("executed", counts),
      },
      label,
      ...(color !== undefined && { color }),
      ...(period && { period }),
    });
  }
}

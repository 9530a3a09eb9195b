/**
 * A subscriber that turns events of the engine, the relay, the sweeper and the reconciler into CloudWatch metrics. It writes
 * lines in the embedded metric format, which CloudWatch Logs reads, and calls no service. contract.ts names the metrics.
 */
import { DIMENSION_PATTERN, METRICS, NAMESPACE_PATTERN } from "../contract.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import type { DecisionEvent } from "../core/decisions.ts";
import { aFunction, type Check, checkOptions, methods } from "../core/option-checks.ts";
import { quietly } from "../core/unawaited.ts";
import { withDefaults } from "../core/with-defaults.ts";
import { emfLine } from "./emf-line.ts";
import {
  isSettling,
  measureDecision,
  measureSending,
  measureSettling,
  type SendingEvent,
  type SettlingEvent,
} from "./measurements.ts";

export interface EmfMetricsOptions {
  /**
   * Names the service whose operations these are, as a dimension: set the same in `IdempotencyMonitoring`. Printable ASCII, 1 to
   * 255 characters. Two stacks in one account and region need different names.
   * @default "onceonly"
   */
  readonly service?: string;
  /**
   * The namespace of the metrics: set the same in `IdempotencyMonitoring`. Printable ASCII, 1 to 255 characters.
   * @default "Onceonly"
   */
  readonly namespace?: string;
  /**
   * Receives a line, without a line break. The line must arrive unchanged in the function's log group. With the log format JSON,
   * Lambda wraps each `console.log` line, so CloudWatch finds no metric in it.
   * @default - standard output
   */
  readonly write?: (line: string) => void;
  /** @default - the system's clock */
  readonly clock?: Pick<Clock, "now">;
}

const asciiText = (pattern: RegExp, more: string): Check => [
  `must be a string of 1 to 255 printable ASCII characters${more}`,
  (value) => typeof value === "string" && pattern.test(value),
];

const CHECKS: Readonly<Record<keyof EmfMetricsOptions, Check>> = {
  service: asciiText(DIMENSION_PATTERN, ""),
  namespace: asciiText(NAMESPACE_PATTERN, " that does not start with `AWS/` or a colon"),
  write: aFunction,
  clock: methods("now"),
};

const DEFAULTS = {
  service: METRICS.service,
  namespace: METRICS.namespace,
  // Not `console.log`, which Lambda replaces.
  // https://docs.aws.amazon.com/lambda/latest/dg/nodejs-logging.html#node-js-logging-advanced
  write: (line: string): void => {
    process.stdout.write(`${line}\n`);
  },
  clock: systemClock,
};

type Measurable = DecisionEvent | SendingEvent | SettlingEvent;

function measure(event: Measurable) {
  if ("decision" in event) return measureDecision(event);
  if (event.event === "send") return undefined;
  return isSettling(event) ? measureSettling(event) : measureSending(event);
}

/**
 * Makes the `observe` that counts: for `idempotency`, `httpIdempotency`, `idempotentBatch` and `runOnce`, and for `outboxRelay`,
 * `outboxSweeper` and `reconciler`. In Lambda nothing else is needed, and it makes no request.
 *
 * Each event becomes one line of about half a kilobyte, and counts as one metric by service, and by service and operation. A
 * single message (`send`) has no line, because its commit is counted. `executed` and `replayed` also have a duration, messages
 * of a commit their lag, and a settled key how long that took. CloudWatch bills every combination of metric, service and
 * operation that occurs as a custom metric. For log searches, a line also has `keyHash`, `attempt`, `durationMs` and the error's
 * name. The line of a failed store has its message as `storeError`, which names table and action. No line contains a key, a
 * payload, a result or the message of another error. There is no option to show a key: as a dimension, each key would be a
 * separate metric.
 *
 * A relay, sweeper or reconciler with this `observe` no longer prints its errors: print them yourself as well if you want to
 * read them.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately.
 */
export function emfMetrics(options: EmfMetricsOptions = {}): (event: Measurable) => void {
  checkOptions(options, CHECKS, []);
  const { service, namespace, write, clock } = withDefaults(options, DEFAULTS);
  return function writeMetrics(event) {
    const measured = measure(event);
    if (!measured) return;
    const line = emfLine({ namespace, service, timestampMs: clock.now(), ...measured });
    quietly(() => write(line));
  };
}

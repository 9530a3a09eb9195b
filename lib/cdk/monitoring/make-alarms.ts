// Creates the alarms of an IdempotencyMonitoring: their thresholds, actions, and treatment of missing data.
import { Duration } from "aws-cdk-lib";
import {
  Alarm,
  AlarmRule,
  type CfnAlarm,
  ComparisonOperator,
  CompositeAlarm,
  type IAlarmAction,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import type { Construct } from "constructs";
import { knownSeconds } from "../checks/consumers.ts";
import { warnOfSilentAge } from "../checks/queue-ages.ts";
import { tableIdentity } from "../checks/relays.ts";
import { intervalOf } from "../scheduled.ts";
import { sharedRegistry } from "../shared-registry.ts";
import { relativePath } from "../stable-ids.ts";
import { withDefaults } from "../with-defaults.ts";
import {
  ALARM_PRESETS,
  type AlarmKind,
  type AlarmPreset,
  DEFAULT_EVALUATION,
  DEFAULT_RUNBOOK_URL,
  defaultThresholds,
  MEANINGS,
  MONITORING_DEFAULTS,
  SPIKES,
  THRESHOLD_PROPERTIES,
} from "./alarms.ts";
import { checkThreshold } from "./check-threshold.ts";
import type { IdempotencyMonitoringProps } from "./props.ts";
import { type AlarmSource, longestRunMs } from "./sources.ts";
import {
  type AlarmActions,
  type AlarmSeverity,
  type AlarmThreshold,
  type AlarmThresholds,
  SEVERITIES,
} from "./thresholds.ts";

/** The rule of a composite alarm can have 10,240 characters, and each alarm uses about 130. */
const MAX_COMPOSED = 75;

interface MadeAlarms {
  readonly alarms: readonly Alarm[];
  readonly compositeAlarms: { readonly [Severity in AlarmSeverity]?: CompositeAlarm };
}

export function makeAlarms(
  scope: Construct,
  props: IdempotencyMonitoringProps,
  sources: readonly AlarmSource[],
): MadeAlarms {
  const { alarms: preset, compositeAlarms } = withDefaults(props, MONITORING_DEFAULTS);
  checkOneOf(preset, ALARM_PRESETS, `alarms of ${scope.node.path}`);
  const made: Record<AlarmSeverity, Alarm[]> = { Warning: [], Critical: [] };
  const alarms: Alarm[] = [];
  for (const source of sources) {
    for (const [severity, threshold] of thresholdsOf(scope, source.kind, props, preset)) {
      const alarm = makeAlarm(scope, props, source, severity, threshold);
      made[severity].push(alarm);
      alarms.push(alarm);
    }
  }
  return { alarms, compositeAlarms: compositeAlarms ? compose(scope, made, props) : {} };
}

type SeverityThreshold = readonly [severity: AlarmSeverity, threshold: AlarmThreshold];

function thresholdsOf(
  scope: Construct,
  kind: AlarmKind,
  props: IdempotencyMonitoringProps,
  preset: AlarmPreset,
): readonly SeverityThreshold[] {
  const property = THRESHOLD_PROPERTIES[kind];
  const given: AlarmThresholds | undefined = props[property];
  for (const severity of Object.keys(given ?? {})) {
    checkOneOf(severity, SEVERITIES, `a severity in ${property} of ${scope.node.path}`);
  }
  const thresholds = given ?? defaultThresholds(kind, preset, longestRunMs(props));
  const asked = SEVERITIES.flatMap((severity): SeverityThreshold[] => {
    const threshold = thresholds[severity];
    return threshold ? [[severity, threshold]] : [];
  });
  if (kind !== "table-throttles" || given) return asked;
  return asked.filter(([severity]) => isFirst(scope, props, severity));
}

/** For each app, the tables that already have such an alarm. */
const watched = sharedRegistry<Map<unknown, Set<AlarmSeverity>>>("watched");

/** A table can serve many services, and CloudWatch would charge for the same alarm in each of them. */
function isFirst(
  { node }: Construct,
  { table }: IdempotencyMonitoringProps,
  severity: AlarmSeverity,
): boolean {
  const ofApp = watched.get(node.root) ?? new Map<unknown, Set<AlarmSeverity>>();
  watched.set(node.root, ofApp);
  const identity = tableIdentity(table.table);
  const known = ofApp.get(identity) ?? new Set();
  ofApp.set(identity, known);
  if (known.has(severity)) return false;
  known.add(severity);
  return true;
}

function makeAlarm(
  scope: Construct,
  props: IdempotencyMonitoringProps,
  { kind, metric, resource, operation, writer, queue }: AlarmSource,
  severity: AlarmSeverity,
  threshold: AlarmThreshold,
): Alarm {
  const { runbookUrl = DEFAULT_RUNBOOK_URL, compositeAlarms } = props;
  const { evaluationPeriods = DEFAULT_EVALUATION.evaluationPeriods, datapointsToAlarm } = threshold;
  const name = kind.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
  const what = `threshold of ${severity} in ${THRESHOLD_PROPERTIES[kind]} of ${scope.node.path}`;
  checkThreshold(kind, threshold.threshold, what);
  const alarm = new Alarm(
    scope,
    `${name}${severity}${resource ? relativePath(scope, resource) : (operation ?? "")}`,
    {
      metric: metric({ period: threshold.period ?? defaultPeriod(writer) }),
      threshold: threshold.threshold,
      evaluationPeriods,
      ...(datapointsToAlarm !== undefined && { datapointsToAlarm }),
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      // The function writes the metric in each run, so no data means that it has stopped.
      treatMissingData: writer ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
      alarmDescription: `${severity}: ${MEANINGS[kind]} Runbook: ${runbookUrl}#${kind}`,
    },
  );
  if (queue) warnOfSilentAge(alarm, queue, threshold.threshold, what);
  if (SPIKES.has(kind)) watchBand(alarm, threshold.threshold);
  const common = (actions: AlarmActions | undefined) => (compositeAlarms ? [] : actionsOf(actions, severity));
  alarm.addAlarmAction(...(threshold.alarmActions ?? common(props.alarmActions)));
  alarm.addOkAction(...(threshold.okActions ?? common(props.okActions)));
  return alarm;
}

/**
 * Makes the alarm fire when its metric is above the band that CloudWatch expects. `deviations` is the band's width in standard
 * deviations.
 */
function watchBand(alarm: Alarm, deviations: number): void {
  const resource = alarm.node.defaultChild as CfnAlarm;
  const { namespace = "", metricName = "", dimensions = [], period = 0, statistic = "" } = resource;
  const stat = { metric: { namespace, metricName, dimensions }, period, stat: statistic };
  resource.metrics = [
    { id: "seen", metricStat: stat, returnData: true },
    { id: "band", expression: `ANOMALY_DETECTION_BAND(seen, ${deviations})`, returnData: true },
  ];
  resource.thresholdMetricId = "band";
  resource.comparisonOperator = "GreaterThanUpperThreshold";
  resource.threshold = undefined;
  resource.namespace = undefined;
  resource.metricName = undefined;
  resource.dimensions = undefined;
  resource.period = undefined;
  resource.statistic = undefined;
}

/** A function that runs less often than every five minutes writes nothing in most periods of that length. */
function defaultPeriod(writer: AlarmSource["writer"]): Duration {
  const interval = writer && intervalOf(writer);
  const minutes = Math.ceil(((interval && knownSeconds(interval)) ?? 0) / 60);
  return Duration.minutes(Math.max(DEFAULT_EVALUATION.periodMinutes, minutes));
}

function compose(
  scope: Construct,
  made: Readonly<Record<AlarmSeverity, readonly Alarm[]>>,
  props: IdempotencyMonitoringProps,
): MadeAlarms["compositeAlarms"] {
  const composed: { [Severity in AlarmSeverity]?: CompositeAlarm } = {};
  for (const severity of SEVERITIES) {
    const alarms = made[severity];
    if (alarms.length === 0) continue;
    if (alarms.length > MAX_COMPOSED) {
      throw new Error(
        `${scope.node.path} has ${alarms.length} alarms of the severity ${severity}, but CloudWatch accepts about ${MAX_COMPOSED} in one composite alarm: split its functions and queues between two constructs, or leave compositeAlarms out`,
      );
    }
    const composite = new CompositeAlarm(scope, `Any${severity}`, {
      alarmRule: AlarmRule.anyOf(...alarms),
      alarmDescription: `${severity}: at least one of ${alarms.length} alarms is firing. Runbook: ${props.runbookUrl ?? DEFAULT_RUNBOOK_URL}`,
    });
    composite.addAlarmAction(...actionsOf(props.alarmActions, severity));
    composite.addOkAction(...actionsOf(props.okActions, severity));
    composed[severity] = composite;
  }
  return composed;
}

function actionsOf(actions: AlarmActions = [], severity: AlarmSeverity): IAlarmAction[] {
  return Array.isArray(actions) ? actions : (actions[severity] ?? []);
}

/** @throws Error for a value that the types reject, because an app may be JavaScript */
function checkOneOf(value: string, all: readonly string[], what: string): void {
  if (all.includes(value)) return;
  throw new Error(`${what} is ${JSON.stringify(value)}: use ${all.join(" or ")}`);
}

// Refuses names of metrics that nothing writes, because their alarms would stay silent. No I/O.
import { Token } from "aws-cdk-lib";
import type { IConstruct } from "constructs";
import { DIMENSION_PATTERN, NAMESPACE_PATTERN } from "../../contract.ts";
import { OutboxRelay } from "../outbox-relay.ts";
import type { IdempotencyMonitoringProps } from "./props.ts";

interface MetricNames {
  readonly service: string;
  readonly namespace: string;
}

/**
 * @throws Error for names that CloudWatch does not take, for names other than those of the watched
 * relay, and for a runbook without absolute address
 */
export function checkMetricNames(
  monitoring: IConstruct,
  names: MetricNames,
  { relay, sweeper, runbookUrl }: IdempotencyMonitoringProps,
): void {
  const { path } = monitoring.node;
  checkPattern(path, "service", names.service, DIMENSION_PATTERN);
  checkPattern(path, "namespace", names.namespace, NAMESPACE_PATTERN);
  checkRunbook(path, runbookUrl);
  for (const fn of [relay, sweeper]) {
    const outbox = fn?.node.scope;
    if (!OutboxRelay.isOutboxRelay(outbox)) continue;
    checkSame(path, "service", names.service, outbox);
    checkSame(path, "namespace", names.namespace, outbox);
  }
}

/** The person on call reads the link in a message, where a relative link leads nowhere. */
function checkRunbook(path: string, url: string | undefined): void {
  if (url === undefined || Token.isUnresolved(url) || /^https?:\/\/[^\s#]+$/.test(url)) return;
  throw new Error(
    `runbookUrl of ${path} is ${JSON.stringify(url)}, to which no alarm can link: give an absolute address without a fragment, such as "https://wiki.example/onceonly"`,
  );
}

function checkPattern(path: string, name: keyof MetricNames, value: string, pattern: RegExp): void {
  if (Token.isUnresolved(value) || pattern.test(value)) return;
  throw new Error(
    `${name} of ${path} is ${JSON.stringify(value)}, which CloudWatch does not take: give what emfMetrics was given, printable ASCII of 1 to 255 characters`,
  );
}

function checkSame(path: string, name: keyof MetricNames, value: string, outbox: OutboxRelay): void {
  const { [name]: other, node } = outbox;
  if (value === other || Token.isUnresolved(value) || Token.isUnresolved(other)) return;
  throw new Error(
    `${name} of ${path} is ${JSON.stringify(value)} and that of ${node.path} is ${JSON.stringify(other)}, so that its alarms would watch what nobody writes: give both the same`,
  );
}

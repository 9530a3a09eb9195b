// Rejects names of metrics that nothing writes, because their alarms would never fire. No I/O.
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
 * @throws Error for names that CloudWatch doesn't accept, for names that differ from the watched relay's, and for a runbook
 * URL that isn't absolute
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

/** The person on call opens the link from a message, and a relative link doesn't work there. */
function checkRunbook(path: string, url: string | undefined): void {
  if (url === undefined || Token.isUnresolved(url) || /^https?:\/\/[^\s#]+$/.test(url)) return;
  throw new Error(
    `runbookUrl of ${path} is ${JSON.stringify(url)}, which alarms can't link to: pass an absolute URL without a fragment, such as "https://wiki.example/onceonly"`,
  );
}

function checkPattern(path: string, name: keyof MetricNames, value: string, pattern: RegExp): void {
  if (Token.isUnresolved(value) || pattern.test(value)) return;
  throw new Error(
    `${name} of ${path} is ${JSON.stringify(value)}, which CloudWatch doesn't accept: use 1 to 255 printable ASCII characters, the same as for emfMetrics`,
  );
}

function checkSame(path: string, name: keyof MetricNames, value: string, outbox: OutboxRelay): void {
  const { [name]: other, node } = outbox;
  if (value === other || Token.isUnresolved(value) || Token.isUnresolved(other)) return;
  throw new Error(
    `${name} of ${path} is ${JSON.stringify(value)}, but that of ${node.path} is ${JSON.stringify(other)}, so its alarms would watch metrics that no function emits: use the same value for both`,
  );
}

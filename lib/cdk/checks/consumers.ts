// Checks that a function's options fit its callers, its queues and its own timeout.
import { Annotations, type Duration } from "aws-cdk-lib";
import type { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import type { IConstruct } from "constructs";
import type { IIdempotencyTable } from "../idempotency-table-interface.ts";
import { findFifo } from "../rules/fifo-queues.ts";
import {
  defaultRetention,
  findInRunner,
  LAMBDA_DEFAULT_TIMEOUT_SECONDS,
  queuesAround,
  redeliveries,
} from "../rules/functions.ts";
import type { Redelivery } from "../rules/redelivery.ts";
import { sharedRegistry } from "../shared-registry.ts";
import { USE_DEFAULTS, type UseIdempotencyOptions } from "../use-idempotency-options.ts";
import { withDefaults } from "../with-defaults.ts";
import { isCheckedQueue } from "./fifo-queues.ts";
import { tableIdentity } from "./relays.ts";
import { reported } from "./report.ts";
import { ResolvedApp, resourceOf } from "./resolved-app.ts";
import { walkOnce } from "./resources.ts";
import { tableResource } from "./table-resources.ts";

const checked = sharedRegistry<true>("checked");

/** Checks a function's settings at synthesis. */
export function checkConsumer(
  fn: LambdaFunction,
  table: IIdempotencyTable,
  options: UseIdempotencyOptions,
): void {
  checked.set(fn, true);
  walkOnce(fn);
  fn.node.addValidation({ validate: () => consumerFaults(fn, table, options) });
}

export function isChecked(fn: IConstruct): boolean {
  return checked.has(fn);
}

const runners = sharedRegistry<Map<unknown, Map<string, IConstruct>>>("runners");

/** Two functions with the same operation share keys, so only one of them runs. Only a warning: both may be of one service. */
export function warnOfSharedOperations(
  fn: IConstruct,
  table: IIdempotencyTable,
  operations: readonly string[] = [],
): void {
  const ofApp = runners.get(fn.node.root) ?? new Map<unknown, Map<string, IConstruct>>();
  runners.set(fn.node.root, ofApp);
  // An app may import a table several times.
  const identity = tableIdentity(table.table);
  const known = ofApp.get(identity) ?? new Map<string, IConstruct>();
  ofApp.set(identity, known);
  for (const operation of operations) {
    const other = known.get(operation);
    if (other === undefined) known.set(operation, fn);
    else {
      Annotations.of(fn).addWarningV2(
        "onceonly:shared-operation",
        `${other.node.path} and ${fn.node.path} both run the operation "${operation}" on ${table.node.path}, so for one key only the first runs and the other returns its result: give each function its own operation name`,
      );
    }
  }
}

/** Seconds, or `undefined` if they're only known at deployment. */
export function knownSeconds(duration: Duration): number | undefined {
  return duration.isUnresolved() ? undefined : duration.toSeconds();
}

/** Known at synthesis only, because event sources may be added after the mixin. */
export const defaultRetentionOf = (fn: LambdaFunction): number =>
  defaultRetention(ResolvedApp.of(fn), resourceOf(fn));

/** The timeout that the construct was created with. The template may override it. */
export function timeoutOf({ timeout }: LambdaFunction): number | undefined {
  return timeout === undefined ? LAMBDA_DEFAULT_TIMEOUT_SECONDS : knownSeconds(timeout);
}

/** Redeliveries from clients and from all event sources. */
function allRedeliveries(fn: LambdaFunction, options: UseIdempotencyOptions): Redelivery[] {
  const clientWindow = knownSeconds(withDefaults(options, USE_DEFAULTS).clientWindow);
  return redeliveries(ResolvedApp.of(fn), resourceOf(fn), clientWindow);
}

/** The longest redelivery, or one that is unknown. */
export function longestRedelivery(fn: LambdaFunction, options: UseIdempotencyOptions): Redelivery {
  return allRedeliveries(fn, options).reduce((one, other) => {
    if ("unknown" in one || "unknown" in other) return "unknown" in one ? one : other;
    return other.seconds > one.seconds ? other : one;
  });
}

function consumerFaults(
  fn: LambdaFunction,
  { table }: IIdempotencyTable,
  options: UseIdempotencyOptions,
): string[] {
  const { retention, clientWindow, allowLongRetention, outlivesGateway } = withDefaults(
    options,
    USE_DEFAULTS,
  );
  const runner = {
    fn: resourceOf(fn),
    retention: retention ? knownSeconds(retention) : defaultRetentionOf(fn),
    clientWindow: knownSeconds(clientWindow),
    allowLongRetention,
    outlivesGateway,
    table: tableResource(table),
  };
  const app = ResolvedApp.of(fn);
  return reported(fn, (report) => {
    findInRunner(app, runner, report);
    for (const queue of queuesAround(app, runner.fn)) {
      if (!isCheckedQueue(queue)) findFifo(app, queue, report);
    }
  });
}

// A schedule for the app's own reconciler, with the permissions to find and settle unknown outcomes.
import { Annotations } from "aws-cdk-lib";
import type { ITableV2 } from "aws-cdk-lib/aws-dynamodb";
import type { Rule } from "aws-cdk-lib/aws-events";
import type { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import { ENVIRONMENT } from "../contract.ts";
import { knownSeconds } from "./checks/consumers.ts";
import { needOfTable } from "./checks/needs.ts";
import { checkRegion, tableFor } from "./checks/placement.ts";
import { tableIdentity } from "./checks/relays.ts";
import { reported } from "./checks/report.ts";
import { ResolvedApp, resourceOf } from "./checks/resolved-app.ts";
import { walkOnce } from "./checks/resources.ts";
import { injected } from "./injected.ts";
import { RECONCILER_DEFAULTS, type ReconcilerProps } from "./reconciler-props.ts";
import { findRuntime } from "./rules/functions.ts";
import { findNoWay } from "./rules/networks.ts";
import { FULL_SHARE_SECONDS, secondReconciler, shortReconciler } from "./rules/relays.ts";
import { numberIn } from "./rules/windows/hop.ts";
import { runOnSchedule, warnOfOverlap } from "./scheduled.ts";
import { sharedRegistry } from "./shared-registry.ts";
import { setVariable } from "./variables.ts";
import { withDefaults } from "./with-defaults.ts";

/** For each app, the paths of its reconcilers by table. */
const reconcilers = sharedRegistry<Map<unknown, string>>("reconcilers");

/** https://docs.aws.amazon.com/lambda/latest/dg/configuration-timeout.html */
const DEFAULT_TIMEOUT_SECONDS = 3;

/**
 * Runs your function every minute. Its handler is `reconciler(options)`. The function may list and resolve the unknown
 * outcomes of the table, and reads the table's name from `IDEMPOTENCY_TABLE`. Runs for the same operations take turns with a
 * lease in the table, so the construct reserves no concurrency.
 *
 * Synthesis warns with `onceonly:reconciler-timeout` if the function's timeout is less than 20 seconds, because `verify` gets
 * at most half of the invocation.
 */
export class Reconciler extends Construct {
  /** The id that property injectors of the app use for this construct. */
  static readonly PROPERTY_INJECTION_ID: string = "onceonly.cdk.Reconciler";

  /** The schedule of the reconciler. */
  readonly reconciling: Rule;

  /**
   * @throws Error if `unknownOutcomes` of the table is off, if the table is in another region, or if `IDEMPOTENCY_TABLE` of
   * the function is set to another table
   */
  constructor(scope: Construct, id: string, props: ReconcilerProps) {
    super(scope, id);
    props = injected(Reconciler.PROPERTY_INJECTION_ID, scope, id, props);
    const { table, handler, interval } = withDefaults(props, RECONCILER_DEFAULTS);
    table.grantResolving(handler);
    this.#warnOfSecond(table.table);
    this.reconciling = runOnSchedule(this, "Resource", interval, handler);
    checkRegion(handler, table);
    // An imported function and an alias have no environment to set and no known timeout.
    if (!("addEnvironment" in handler)) {
      Annotations.of(this).addWarningV2(
        "onceonly:no-environment",
        `${handler.node.path} is an alias, a version or an imported function, so Reconciler can't set ${ENVIRONMENT.idempotencyTable} on it: pass the function itself, or set the variable where the function is defined`,
      );
      return;
    }
    const fn = handler as LambdaFunction;
    walkOnce(this);
    this.node.addValidation({ validate: () => this.#faults(fn, table.table) });
    setVariable(fn, ENVIRONMENT.idempotencyTable, tableFor(fn, table));
    this.#checkTimeout(fn);
    if (fn.timeout) {
      const { path } = fn.node;
      warnOfOverlap(this, { path, timeout: fn.timeout, interval, intervalName: "interval" });
    }
  }

  #faults(fn: LambdaFunction, table: ITableV2): string[] {
    const app = ResolvedApp.of(fn);
    const { ReservedConcurrentExecutions } = app.propertiesAt(fn);
    if (numberIn(ReservedConcurrentExecutions) === 0) {
      Annotations.of(this).addWarningV2(
        "onceonly:no-concurrency",
        `reservedConcurrentExecutions of ${fn.node.path} is 0, so no key is ever settled: set it to at least 1, or leave it out`,
      );
    }
    return reported(fn, (report) => {
      findNoWay(app, resourceOf(fn), report, [needOfTable(table)]);
      findRuntime(app, resourceOf(fn), report);
    });
  }

  #warnOfSecond(table: ITableV2): void {
    const ofApp = reconcilers.get(this.node.root) ?? new Map<unknown, string>();
    reconcilers.set(this.node.root, ofApp);
    const identity = tableIdentity(table);
    const other = ofApp.get(identity);
    if (other === undefined) ofApp.set(identity, this.node.path);
    else {
      Annotations.of(this).addWarningV2(
        "onceonly:second-reconciler",
        secondReconciler(other, this.node.path, table.node.path),
      );
    }
  }

  #checkTimeout(fn: LambdaFunction): void {
    const seconds = fn.timeout ? knownSeconds(fn.timeout) : DEFAULT_TIMEOUT_SECONDS;
    if (seconds === undefined || seconds >= FULL_SHARE_SECONDS) return;
    Annotations.of(this).addWarningV2("onceonly:reconciler-timeout", shortReconciler(fn.node.path, seconds));
  }
}

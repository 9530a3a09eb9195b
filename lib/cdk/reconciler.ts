// A schedule for the app's own reconciler, with the rights to find and settle unknown outcomes.
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

/** The paths of an app's reconcilers, by their tables. */
const reconcilers = sharedRegistry<Map<unknown, string>>("reconcilers");

/** How long a question and its verdict take by default: ten seconds are half of the time, and six are for the record. */

/** https://docs.aws.amazon.com/lambda/latest/dg/configuration-timeout.html */
const DEFAULT_TIMEOUT_SECONDS = 3;

/**
 * Runs a function of the app every minute, whose handler is `reconciler(options)`. The function may list and
 * resolve the unknown outcomes of the table, and reads the table's name from `IDEMPOTENCY_TABLE`. Runs of the same
 * operations take turns by a lease in the table, so no concurrency is reserved.
 *
 * A function with less than 20 seconds is told as the warning `onceonly:reconciler-timeout`, since `verify`
 * gets half of the invocation at most.
 */
export class Reconciler extends Construct {
  /** The id by which property injectors of the app find this construct. */
  static readonly PROPERTY_INJECTION_ID: string = "onceonly.cdk.Reconciler";

  /** The schedule. */
  readonly reconciling: Rule;

  /**
   * @throws Error when `unknownOutcomes` of the table is off, when the table is of another region, or `IDEMPOTENCY_TABLE` of the
   * function is another table
   */
  constructor(scope: Construct, id: string, props: ReconcilerProps) {
    super(scope, id);
    props = injected(Reconciler.PROPERTY_INJECTION_ID, scope, id, props);
    const { table, handler, interval } = withDefaults(props, RECONCILER_DEFAULTS);
    table.grantResolving(handler);
    this.#warnOfSecond(table.table);
    this.reconciling = runOnSchedule(this, "Resource", interval, handler);
    checkRegion(handler, table);
    // An imported function and an alias have no environment to set, and tell no timeout.
    if (!("addEnvironment" in handler)) {
      Annotations.of(this).addWarningV2(
        "onceonly:no-environment",
        `${handler.node.path} is an alias, a version or an imported function, so that Reconciler sets no ${ENVIRONMENT.idempotencyTable} there: give it the function itself, or set the variable where the function is made`,
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
        `reservedConcurrentExecutions of ${fn.node.path} is 0, so that no key is settled: make it 1 or more, or leave it out`,
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

// The mixin that connects a function with an IdempotencyTable: the grant, the handler's environment variables, and the
// checks that its settings fit together.
import { Annotations, CfnResource, type Duration, Lazy, Mixin, Tokenization } from "aws-cdk-lib";
import type { IConstruct } from "constructs";
import { ENVIRONMENT, NO_OUTBOX } from "../contract.ts";
import {
  checkConsumer,
  defaultRetentionOf,
  isChecked,
  knownSeconds,
  longestRedelivery,
  warnOfSharedOperations,
} from "./checks/consumers.ts";
import { writeMetadata } from "./checks/metadata.ts";
import { checkRegion, tableFor, warnOfFarCommits } from "./checks/placement.ts";
import { isOfCdk } from "./checks/references.ts";
import { warnOfNoRelay } from "./checks/relays.ts";
import { fromApp } from "./checks/resolved-app.ts";
import { isDurable, letFindItsExecutions } from "./durable-rights.ts";
import type { IIdempotencyTable } from "./idempotency-table-interface.ts";
import { note } from "./note.ts";
import { OutboxRelay } from "./outbox-relay.ts";
import { ACCESS_DEFAULTS, CLOSED_UNTIL, type ComputedAccess } from "./record-access.ts";
import type { UseIdempotencyOptions } from "./use-idempotency-options.ts";
import { type AnyFunction, isWebFunction, setVariable } from "./variables.ts";

/**
 * Lets a Lambda function run operations on a table: `fn.with(new UseIdempotency(table))` grants exactly the permissions that
 * this needs. It sets environment variables: `IDEMPOTENCY_TABLE` is the table's name, `IDEMPOTENCY_RETENTION_SECONDS` is
 * `retention`, and `IDEMPOTENCY_OUTBOX` is the number of outbox shards, or `none` without `commits` or on a table without an
 * outbox. With `none`, `new DynamoDBStore({ outbox: process.env.IDEMPOTENCY_OUTBOX })` refuses messages immediately, and IAM
 * denies them in any case. With `resultBucket`, `IDEMPOTENCY_RESULT_BUCKET` is the bucket's name.
 *
 * Synthesis computes the longest redelivery to the function, over all event sources in the app that reach it. A queue, for
 * example, can redeliver a message for visibility timeout × receives + its retention + that of its dead-letter queue + client
 * window. Synthesis fails with these numbers if `retention` is shorter. It only warns about an AWS maximum that the template
 * doesn't set.
 *
 * Synthesis also fails if a queue's visibility timeout is shorter than the function's timeout, if an API Gateway times out
 * before the function, or if the function reads the stream of a table that has none. Numbers that are only known at deployment
 * aren't checked, and a note says so. Synthesis warns with `onceonly:shared-operation` if two functions name the same operation
 * of one table.
 *
 * A function with a capacity provider (Lambda Managed Instances) gets the same permissions and variables. The note
 * `onceonly:managed-instances` says that its leases are short and renewed.
 *
 * A `WebFunction` (Lambda Web Functions, with `aws-cdk-lib` 2.276 or later) gets the same permissions and variables. Checks of
 * event sources and gateways don't apply to it. Synthesis warns with `onceonly:replica-regions` if one of its endpoints also
 * serves other regions.
 *
 * A durable function may also ask whether an execution of its own has ended, for `client` of `idempotentDurable`. Start its
 * executions with `startOnce` and `UseStartOnce`.
 *
 * A table in another account is passed by its ARN. A table in another region is refused: each claim would cross regions, and
 * the function's own region may have a table with the same name.
 *
 * Applied to a stack, it skips functions that already have it, functions that CDK uses to create resources, and plain
 * resources.
 *
 * Apply it once to each `Function` or `WebFunction`, or to a class that extends it, such as `NodejsFunction`. It skips imported functions and
 * aliases, which have no environment to set, and the functions of an `OutboxRelay`, which run no operations.
 *
 * Synthesis fails if you apply it to a construct that isn't a function and contains none. It warns with
 * `onceonly:no-environment` if you apply it directly to an alias or an imported function.
 * @throws Error if a function already has it, or has one of the variables set to another value
 */
export class UseIdempotency extends Mixin {
  readonly #table: IIdempotencyTable;
  readonly #options: UseIdempotencyOptions;
  /** Constructs that the mixin was applied to and that aren't functions, without their children. */
  readonly #asked = new Set<IConstruct>();
  readonly #applied = new Set<IConstruct>();
  /** Functions that already had it. */
  readonly #left = new Set<IConstruct>();

  constructor(table: IIdempotencyTable, options: UseIdempotencyOptions = {}) {
    super();
    this.#table = table;
    this.#options = options;
  }

  override supports(construct: IConstruct): boolean {
    return this.#supports(construct);
  }

  #supports(construct: IConstruct): construct is AnyFunction {
    // Not instanceof: an app may load two copies of aws-cdk-lib. A SingletonFunction refers to a function elsewhere.
    const hasResource = construct.node.defaultChild !== undefined;
    const isFunction =
      hasResource &&
      (isWebFunction(construct) || ("addEnvironment" in construct && "grantPrincipal" in construct));
    this.#notePlainFunction(construct);
    const isSupported = isFunction && !OutboxRelay.isOutboxRelay(construct.node.scope);
    if (!isSupported) this.#expectFunctions(construct);
    return isSupported && !this.#leavesAlone(construct);
  }

  /**
   * Applied to a stack, the mixin skips functions that already have it and functions that CDK uses to create resources. A
   * function that it's applied to directly is never skipped.
   */
  #leavesAlone(construct: IConstruct): boolean {
    const isFoundInside = construct.node.scopes.some((each) => each !== construct && this.#asked.has(each));
    if (!isFoundInside) return false;
    const hasItAlready = isChecked(construct) && !this.#applied.has(construct);
    if (hasItAlready) this.#left.add(construct);
    else if (!isOfCdk(construct)) return false;
    const why = hasItAlready
      ? "already has UseIdempotency"
      : "is one of CDK's own functions, which run no operations";
    note(
      construct,
      "onceonly:left-alone",
      `${construct.node.path} ${why}: the UseIdempotency applied to its parent leaves it unchanged`,
    );
    return true;
  }

  /** A plain resource, or a function from an included template, has no role to grant to. */
  #notePlainFunction(construct: IConstruct): void {
    const { scope, path } = construct.node;
    const isPlain =
      CfnResource.isCfnResource(construct) &&
      /^AWS::(Lambda::(Web)?|Serverless::)Function$/.test(construct.cfnResourceType);
    const isInner = scope?.node.defaultChild === construct;
    const isFoundInside = construct.node.scopes.some((each) => each !== construct && this.#asked.has(each));
    if (!isPlain || isInner || !isFoundInside) return;
    note(
      construct,
      "onceonly:left-alone",
      `${path} is a plain resource without a role to grant to: the UseIdempotency applied to its parent leaves it unchanged. Use a ${construct.cfnResourceType.endsWith("WebFunction") ? "WebFunction" : "Function"} construct instead, or set its role and variables yourself: use the table's grants, and pass the table's name to its store`,
    );
  }

  /**
   * CDK silently skips a mixin that a construct doesn't support. It calls `supports` for the construct that the mixin is
   * applied to, and then for each of its children.
   */
  #expectFunctions(construct: IConstruct): void {
    const { path, scopes } = construct.node;
    if (scopes.some((each) => this.#asked.has(each) || this.#applied.has(each))) return;
    this.#asked.add(construct);
    if ("grantInvoke" in construct) {
      Annotations.of(construct).addWarningV2(
        "onceonly:no-environment",
        `${path} is an alias, a version, an imported or a singleton function, or part of an OutboxRelay, so UseIdempotency leaves it unchanged: apply it to the function that runs operations`,
      );
      return;
    }
    construct.node.addValidation({
      validate: () => {
        const isFound = [...this.#applied, ...this.#left].some((fn) => fn.node.scopes.includes(construct));
        const where = path === "" ? "the app" : path;
        return isFound
          ? []
          : [
              `UseIdempotency of ${this.#table.node.path} is applied to ${where}, which contains no Lambda function: apply it to the function that runs operations`,
            ];
      },
    });
  }

  override applyTo(construct: IConstruct): void {
    if (!this.#supports(construct)) {
      throw new Error(
        `${construct.node.path} isn't a Lambda function: apply UseIdempotency to functions only`,
      );
    }
    if (isChecked(construct)) {
      // The function would keep the permissions on the first table without using it.
      throw new Error(
        `${construct.node.path} already has UseIdempotency, and would get that of ${this.#table.node.path} as well: apply it once, with all options`,
      );
    }
    this.#applied.add(construct);
    checkRegion(construct, this.#table);
    const options = this.#options;
    const access: ComputedAccess = { ...options, ...this.#closedUntil(construct) };
    this.#table.grantIdempotency(construct, access);
    if (!isWebFunction(construct) && isDurable(construct)) letFindItsExecutions(construct);
    setVariable(construct, ENVIRONMENT.idempotencyTable, tableFor(construct, this.#table));
    const { outboxShards } = this.#table;
    const commits = options.commits ?? ACCESS_DEFAULTS.commits;
    const outbox = commits && outboxShards > 0 ? `${outboxShards}` : NO_OUTBOX;
    setVariable(construct, ENVIRONMENT.outbox, outbox);
    if (outbox !== NO_OUTBOX) warnOfNoRelay(construct, this.#table);
    if (commits) warnOfFarCommits(construct, this.#table);
    const { retention, allowLongRetention, outlivesGateway } = options;
    setVariable(
      construct,
      ENVIRONMENT.retentionSeconds,
      retention
        ? Tokenization.stringifyNumber(retention.toSeconds())
        : fromApp(() => `${defaultRetentionOf(construct)}`),
    );
    const { ttlAttribute } = this.#table.names;
    const clientWindowSeconds = options.clientWindow && (knownSeconds(options.clientWindow) ?? "unknown");
    writeMetadata(construct, { clientWindowSeconds, allowLongRetention, outlivesGateway, ttlAttribute });
    this.#useResults(construct, retention);
    checkConsumer(construct, this.#table, options);
    warnOfSharedOperations(construct, this.#table, options.operations);
  }

  /** @throws Error without a retention, or if a record would outlive its result */
  #useResults(fn: AnyFunction, retention: Duration | undefined): void {
    const { resultBucket: results } = this.#options;
    if (!results) return;
    if (!retention)
      throw new Error(
        `${fn.node.path} keeps results in ${results.node.path} for as long as its records: set \`retention\` next to \`resultBucket\``,
      );
    const [kept, stored] = [knownSeconds(retention), knownSeconds(results.retention)];
    if (kept !== undefined && stored !== undefined && kept > stored)
      throw new Error(
        `${fn.node.path} honours records for ${kept} seconds (retention), but the results in ${results.node.path} are kept for ${stored}: raise \`retention\` of the ResultBucket`,
      );
    results.grantResults(fn);
    setVariable(fn, ENVIRONMENT.resultBucket, results.bucketName);
  }

  /** The time after which no call from between the backup and the restoration can be redelivered. */
  #closedUntil(fn: AnyFunction): ComputedAccess {
    const options = this.#options;
    const { restoredAt, node } = this.#table;
    if (!restoredAt || options.closedUntil !== undefined) return {};
    // Event sources may be added after the mixin.
    const closedUntil = Lazy.string({
      produce() {
        const longest = longestRedelivery(fn, options);
        if ("unknown" in longest) {
          throw new Error(
            `${node.path} was restored at ${restoredAt.toISOString()}, but how long ${fn.node.path} must stay closed can't be computed because ${longest.unknown}: pass closedUntil`,
          );
        }
        return new Date(restoredAt.getTime() + longest.seconds * 1000).toISOString();
      },
    });
    return { [CLOSED_UNTIL]: closedUntil };
  }
}

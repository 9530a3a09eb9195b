// The mixin that connects a function with an IdempotencyTable: the grant, the handler's environment
// variables, and the proof that its numbers agree.
import { Annotations, CfnResource, Lazy, Mixin, Tokenization } from "aws-cdk-lib";
import type { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import type { IConstruct } from "constructs";
import { ENVIRONMENT, NO_OUTBOX } from "../contract.ts";
import {
  checkConsumer,
  isChecked,
  knownSeconds,
  longestRedelivery,
  warnOfSharedOperations,
} from "./checks/consumers.ts";
import { tellDoctor } from "./checks/metadata.ts";
import { checkRegion, tableFor, warnOfFarCommits } from "./checks/placement.ts";
import { isOfCdk } from "./checks/references.ts";
import { warnOfNoRelay } from "./checks/relays.ts";
import type { IIdempotencyTable } from "./idempotency-table-interface.ts";
import { note } from "./note.ts";
import { OutboxRelay } from "./outbox-relay.ts";
import { ACCESS_DEFAULTS, CLOSED_UNTIL, type ComputedAccess } from "./record-access.ts";
import { USE_DEFAULTS, type UseIdempotencyOptions } from "./use-idempotency-options.ts";
import { setVariable } from "./variables.ts";

/**
 * Lets a Lambda function run operations against a table: `fn.with(new UseIdempotency(table))` grants exactly
 * the rights for that. It sets two environment variables: `IDEMPOTENCY_TABLE` is the table's name, and
 * `IDEMPOTENCY_OUTBOX` says whether the function may commit messages. The latter is `none` without `commits`,
 * or on a table without an outbox, otherwise the number of shards. `new DynamoDBStore({ outbox:
 * process.env.IDEMPOTENCY_OUTBOX })` then refuses messages at once; and IAM refuses them in any case.
 *
 * At synthesis it computes the longest redelivery to the function, over all event sources of the app that reach
 * it. A queue, for example, brings a message for visibility timeout × receives + its retention + that of its
 * dead-letter queue + client window. A shorter `retention` fails with these numbers. A maximum of AWS that the
 * template does not set is a warning.
 *
 * Synthesis also fails when a queue hides messages for less than the function's timeout, or an API Gateway
 * gives up before the function. It fails when the function reads the stream of a table that has none. Numbers
 * that are known only at deployment are not checked, and a note says so. Two functions that name the same operation of one
 * table are told as the warning `onceonly:shared-operation`.
 *
 * A function with a capacity provider (Lambda Managed Instances) gets the same rights and variables. The note
 * `onceonly:managed-instances` says that its leases are short and renewed.
 *
 * A table of another account is named by its ARN. A table of another region is refused: each claim would cross regions, and
 * a table of that name may be here too.
 *
 * Applied to a stack it leaves alone the functions that have it already, those by which CDK makes resources, and plain resources.
 *
 * Works once for each `Function`, and for classes that extend it, such as `NodejsFunction`. An imported
 * function and an alias have no environment to set, and the functions of an `OutboxRelay` run no operations:
 * they are left alone.
 *
 * Synthesis fails for a construct that is no function and has none inside. An alias or an imported function
 * that it is applied to by itself is told as the warning `onceonly:no-environment`.
 * @throws Error when a function has it already, or has one of the variables with another value
 */
export class UseIdempotency extends Mixin {
  readonly #table: IIdempotencyTable;
  readonly #options: UseIdempotencyOptions;
  /** Constructs that the mixin was applied to and that are no functions, without their children. */
  readonly #asked = new Set<IConstruct>();
  readonly #applied = new Set<IConstruct>();
  /** Functions that had it before. */
  readonly #left = new Set<IConstruct>();

  constructor(table: IIdempotencyTable, options: UseIdempotencyOptions = {}) {
    super();
    this.#table = table;
    this.#options = options;
  }

  override supports(construct: IConstruct): construct is LambdaFunction {
    // Not instanceof: an app may hold two copies of aws-cdk-lib. A SingletonFunction stands for one that is elsewhere.
    const hasResource = construct.node.defaultChild !== undefined;
    const isFunction = hasResource && "addEnvironment" in construct && "grantPrincipal" in construct;
    this.#tellOfPlain(construct);
    const isSupported = isFunction && !OutboxRelay.isOutboxRelay(construct.node.scope);
    if (!isSupported) this.#expectFunctions(construct);
    return isSupported && !this.#leavesAlone(construct);
  }

  /**
   * Applied to a stack, the mixin is meant for the functions that run operations. Those that have it already are not meant, nor
   * those by which CDK makes resources. A function that it is applied to by itself is meant.
   */
  #leavesAlone(construct: IConstruct): boolean {
    const isFoundInside = construct.node.scopes.some((each) => each !== construct && this.#asked.has(each));
    if (!isFoundInside) return false;
    const hasItAlready = isChecked(construct) && !this.#applied.has(construct);
    if (hasItAlready) this.#left.add(construct);
    else if (!isOfCdk(construct)) return false;
    const why = hasItAlready
      ? "has UseIdempotency already"
      : "is a function of CDK's own, which runs no operations";
    note(
      construct,
      "onceonly:left-alone",
      `${construct.node.path} ${why}: UseIdempotency, which is applied to what it is in, leaves it as it is`,
    );
    return true;
  }

  /** A function of a template that is included, or a plain resource, has no role to grant to. */
  #tellOfPlain(construct: IConstruct): void {
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
      `${path} is a plain resource, which has no role to grant to: UseIdempotency, which is applied to what it is in, leaves it as it is. ${construct.cfnResourceType === "AWS::Lambda::WebFunction" ? "Its" : "Make a Function of it, or its"} role and variables are yours to set: grant it by the table's grants, and give its store the table's name`,
    );
  }

  /**
   * A mixin that is not supported is skipped without a word. CDK asks here about the construct that the mixin is
   * applied to, and then about each of its children.
   */
  #expectFunctions(construct: IConstruct): void {
    const { path, scopes } = construct.node;
    if (scopes.some((each) => this.#asked.has(each) || this.#applied.has(each))) return;
    this.#asked.add(construct);
    if ("grantInvoke" in construct) {
      Annotations.of(construct).addWarningV2(
        "onceonly:no-environment",
        `${path} is an alias, a version, an imported or a singleton function, or a part of an OutboxRelay, so that UseIdempotency leaves it as it is: apply it to the function that runs operations`,
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
              `UseIdempotency of ${this.#table.node.path} is applied to ${where}, in which is no Lambda function: apply it to the function that runs operations`,
            ];
      },
    });
  }

  override applyTo(construct: IConstruct): void {
    if (!this.supports(construct)) {
      throw new Error(
        `${construct.node.path} is not a Lambda function: apply UseIdempotency to functions only`,
      );
    }
    if (isChecked(construct)) {
      // The first table would be granted and never used, and rights add up.
      throw new Error(
        `${construct.node.path} has UseIdempotency already, and would have it of ${this.#table.node.path} as well: apply it once, with all options`,
      );
    }
    this.#applied.add(construct);
    checkRegion(construct, this.#table);
    const options = this.#options;
    const access: ComputedAccess = { ...options, ...this.#closedUntil(construct) };
    this.#table.grantIdempotency(construct, access);
    setVariable(construct, ENVIRONMENT.idempotencyTable, tableFor(construct, this.#table));
    const { outboxShards } = this.#table;
    const commits = options.commits ?? ACCESS_DEFAULTS.commits;
    const outbox = commits && outboxShards > 0 ? `${outboxShards}` : NO_OUTBOX;
    setVariable(construct, ENVIRONMENT.outbox, outbox);
    if (outbox !== NO_OUTBOX) warnOfNoRelay(construct, this.#table);
    if (commits) warnOfFarCommits(construct, this.#table);
    const retention = options.retention ?? USE_DEFAULTS.retention;
    setVariable(construct, ENVIRONMENT.retentionSeconds, Tokenization.stringifyNumber(retention.toSeconds()));
    const { longRetention, outlivesGateway } = options;
    const { ttlAttribute } = this.#table.names;
    const clientWindowSeconds = options.clientWindow && (knownSeconds(options.clientWindow) ?? "unknown");
    tellDoctor(construct, { clientWindowSeconds, longRetention, outlivesGateway, ttlAttribute });
    checkConsumer(construct, this.#table, options);
    warnOfSharedOperations(construct, this.#table, options.operations);
  }

  /** The time after which no call from between the backup and the restoration can come again. */
  #closedUntil(fn: LambdaFunction): ComputedAccess {
    const options = this.#options;
    const { restoredAt, node } = this.#table;
    if (!restoredAt || options.closedUntil !== undefined) return {};
    // Event sources may be added after the mixin.
    const closedUntil = Lazy.string({
      produce() {
        const longest = longestRedelivery(fn, options);
        if ("unknown" in longest) {
          throw new Error(
            `${node.path} was restored at ${restoredAt.toISOString()}, and for how long ${fn.node.path} must be closed cannot be computed, since ${longest.unknown}: give closedUntil`,
          );
        }
        return new Date(restoredAt.getTime() + longest.seconds * 1000).toISOString();
      },
    });
    return { [CLOSED_UNTIL]: closedUntil };
  }
}

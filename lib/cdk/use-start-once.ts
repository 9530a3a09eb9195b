// The mixin that connects a function with `startOnce` to the durable function that it starts: the permissions, the handler's
// environment variable, and the checks that both fit together.
import { Duration, Mixin } from "aws-cdk-lib";
import { Grant } from "aws-cdk-lib/aws-iam";
import type { IAlias, IVersion, Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import type { IConstruct } from "constructs";
import { ENVIRONMENT } from "../contract.ts";
import { knownSeconds } from "./checks/consumers.ts";
import { checkDispatcher, isDispatcher } from "./checks/dispatchers.ts";
import { writeMetadata } from "./checks/metadata.ts";
import { resourceOf } from "./checks/resolved-app.ts";
import { allowOnExecutions } from "./durable-rights.ts";
import { setVariable } from "./variables.ts";
import { withDefaults } from "./with-defaults.ts";

/** Options of {@link UseStartOnce}. */
export interface UseStartOnceOptions {
  /**
   * How long after its first try a caller, or a sender of messages, may retry with the same key.
   *
   * @default Duration.minutes(2)
   */
  readonly clientWindow?: Duration;
}

export const START_DEFAULTS = { clientWindow: Duration.minutes(2) } as const;

/**
 * Lets a function whose handler is `startOnce(options)` start executions of a durable function:
 * `dispatcher.with(new UseStartOnce(fulfilOrder.addAlias("live")))`. It grants `lambda:InvokeFunction` on that alias only,
 * `lambda:ListDurableExecutionsByFunction` on the function, and `lambda:GetDurableExecution` on its executions. The variable
 * `DURABLE_FUNCTION` is the alias's ARN: `functionName: process.env.DURABLE_FUNCTION`.
 *
 * Lambda remembers the name of an execution for the `retentionPeriod` of the `durableConfig` after its end, 14 days by default. A
 * later delivery would start a second execution. So synthesis computes the longest redelivery to the dispatcher, as for
 * `UseIdempotency`, and fails with both numbers if the retention period is shorter. It also fails if the function isn't durable,
 * and checks the timeouts of the queue and the API in front of the dispatcher.
 *
 * @throws Error if the durable function is passed without a version or alias, or as `$LATEST`, or if the mixin is applied to
 * anything but a function, or twice to one function
 */
export class UseStartOnce extends Mixin {
  readonly #target: IAlias | IVersion;
  readonly #options: UseStartOnceOptions;
  /** What the mixin was applied to, without its children. */
  readonly #applied = new Set<IConstruct>();

  /** @param target an alias or a version of the durable function */
  constructor(target: IAlias | IVersion, options: UseStartOnceOptions = {}) {
    super();
    checkTarget(target);
    this.#target = target;
    this.#options = options;
  }

  /** CDK asks for the construct that the mixin is applied to, and then for each of its children. */
  override supports(construct: IConstruct): construct is LambdaFunction {
    const { defaultChild, path, scopes } = construct.node;
    if (scopes.some((each) => each !== construct && this.#applied.has(each))) return false;
    // Not instanceof: an app may load two copies of aws-cdk-lib.
    if (defaultChild === undefined || !("addEnvironment" in construct && "grantPrincipal" in construct)) {
      throw new Error(
        `UseStartOnce is applied to ${path === "" ? "the app" : path}, which isn't a Lambda function with an environment: apply it to the function whose handler is startOnce`,
      );
    }
    this.#applied.add(construct);
    return true;
  }

  override applyTo(construct: IConstruct): void {
    if (!this.supports(construct)) return;
    if (isDispatcher(construct)) {
      throw new Error(
        `${construct.node.path} already has UseStartOnce: a function starts executions of one durable function`,
      );
    }
    const target = this.#target;
    const { clientWindow } = withDefaults(this.#options, START_DEFAULTS);
    const grant = (action: string, arn: string) =>
      Grant.addToPrincipal({ grantee: construct, actions: [action], resourceArns: [arn] });
    grant("lambda:InvokeFunction", target.functionArn);
    // `startOnce` looks for a name in all versions.
    grant("lambda:ListDurableExecutionsByFunction", versionOf(target).lambda.functionArn);
    const rights = allowOnExecutions(construct, versionOf(target).lambda.functionArn, [
      "lambda:GetDurableExecution",
    ]);
    resourceOf(construct).node.addDependency(rights);
    setVariable(construct, ENVIRONMENT.durableFunction, target.functionArn);
    writeMetadata(construct, {
      clientWindowSeconds: this.#options.clientWindow && (knownSeconds(clientWindow) ?? "unknown"),
    });
    checkDispatcher(construct, target, clientWindow);
  }
}

const versionOf = (target: IAlias | IVersion): IVersion => ("aliasName" in target ? target.version : target);

/** Types don't catch a function in JavaScript, or one that was cast. */
function checkTarget(target: IAlias | IVersion): void {
  const { lambda, version } = versionOf(target) as Partial<IVersion>;
  const why =
    lambda === undefined
      ? "has no version and no alias, and Lambda starts durable executions only so"
      : version === "$LATEST" &&
        "is $LATEST: the next deployment would replay running executions with other code";
  if (why) {
    throw new Error(
      `${target.node.path} ${why}. Pass an alias, such as addAlias("live"), or Alias.fromAliasAttributes for a function of another app`,
    );
  }
}

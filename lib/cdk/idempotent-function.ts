// A preset for an app's functions that run operations: bundled, logged and connected as this package expects.
// It bundles the app's code, so this package's own functions don't use it.
import { Annotations } from "aws-cdk-lib";
import { type BundlingOptions, NodejsFunction, OutputFormat } from "aws-cdk-lib/aws-lambda-nodejs";
import type { Construct } from "constructs";
import { ResolvedApp } from "./checks/resolved-app.ts";
import { walkOnce } from "./checks/resources.ts";
import { allowCheckpoints } from "./durable-rights.ts";
import { FUNCTION_DEFAULTS, type IdempotentFunctionProps } from "./idempotent-function-props.ts";
import { injected } from "./injected.ts";
import { allowNetworkInterfaces, leanLogging } from "./lean-logging.ts";
import { UseIdempotency } from "./use-idempotency.ts";
import { withDefaults } from "./with-defaults.ts";

/**
 * CommonJS packages load Node's built-in modules with `require`, and esbuild uses the global one. An imported `require` could
 * clash with the same name in the bundle.
 */
const REQUIRE =
  'globalThis.require??=process.getBuiltinModule("node:module").createRequire(import.meta.url);';

/**
 * A `NodejsFunction` that runs operations, on Node.js 24 and ARM, with `UseIdempotency` applied. It's bundled as one minified
 * ES module that contains the AWS SDK. It writes JSON logs to its own log group, and its role has no other permissions, except
 * those on its own executions if it has a `durableConfig`. All other settings are those of a `NodejsFunction`.
 */
export class IdempotentFunction extends NodejsFunction {
  /** The id that property injectors of the app use for this construct. Those for `NodejsFunction` apply too. */
  static override readonly PROPERTY_INJECTION_ID: string = "onceonly.cdk.IdempotentFunction";

  constructor(scope: Construct, id: string, props: IdempotentFunctionProps) {
    props = injected(IdempotentFunction.PROPERTY_INJECTION_ID, scope, id, props);
    const { bundling, logRetention, logRemovalPolicy, ...settings } = withDefaults(props, FUNCTION_DEFAULTS);
    super(scope, id, {
      ...settings,
      ...leanLogging(scope, id, { ...props, logRetention, logRemovalPolicy }),
      ...(props.loggingFormat && { loggingFormat: props.loggingFormat }),
      bundling: bundlingOf(bundling),
    });
    allowNetworkInterfaces(this);
    allowCheckpoints(this);
    if (bundling?.externalModules?.some((name) => /^onceonly(\/|$)/.test(name))) this.#expectLayer();
    this.with(new UseIdempotency(props.table, props));
  }

  /** A layer may be added later. */
  #expectLayer(): void {
    walkOnce(this);
    this.node.addValidation({
      validate: () => {
        if (ResolvedApp.of(this).propertiesAt(this).Layers === undefined) {
          Annotations.of(this).addWarningV2(
            "onceonly:missing-package",
            `externalModules of ${this.node.path} contains onceonly, but the function has no layer that could provide it, so it can't start: remove onceonly from externalModules, or add the layer`,
          );
        }
        return [];
      },
    });
  }
}

function bundlingOf(given: BundlingOptions = {}): BundlingOptions {
  const bundling = withDefaults(given, FUNCTION_DEFAULTS.bundling);
  if (bundling.format !== OutputFormat.ESM) return bundling;
  return { ...bundling, banner: `${REQUIRE}${given.banner ?? ""}` };
}

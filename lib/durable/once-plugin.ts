/** A plugin of the durable SDK: child keys and decisions for the steps of a handler that isn't changed. */
import { AsyncLocalStorage } from "node:async_hooks";
import { deriveChildKey } from "../core/child-key.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import { shared } from "../core/copies.ts";
import { type DecisionEvent, type Observe, reportDecision } from "../core/decisions.ts";
import { hashTuple } from "../core/identity.ts";
import { aFunction, checkOptions, methods } from "../core/option-checks.ts";
import { decisionLog } from "../observe/decision-log.ts";
import type { CoveringOperation } from "./context.ts";
import { type CurrentStep, runInStep } from "./current-step.ts";

export interface OncePluginOptions {
  /**
   * Gets the decisions about each step: `executed`, `released` after a failed attempt, and `taken-over` if a step runs again because
   * its invocation died before the checkpoint. The operation is the step's name. Steps of `onceStep` report to their own `observe`.
   * @default - a line of JSON on the console, as by `decisionLog()`
   */
  readonly observe?: Observe;
  /** @default - the system's clock */
  readonly clock?: Clock;
}

/** Information that the SDK gives its plugins about an operation. */
export interface PluginOperation {
  readonly id: string;
  readonly name?: string;
  readonly subType?: string;
  readonly status?: string;
  readonly attempt?: number;
}

/** About an attempt, when it ends. */
export interface PluginAttempt extends PluginOperation {
  readonly attempt: number;
  readonly outcome?: string;
  readonly error?: Error;
}

/** About an invocation. */
export interface PluginInvocation {
  readonly executionArn: string;
  readonly operations: Readonly<Record<string, PluginOperation>>;
}

/** A plugin in the SDK's form, so that its type doesn't need the SDK. */
export interface DurablePlugin {
  wrapInvocation<T>(info: PluginInvocation, invocation: () => T): T;
  wrapChildContextFn(info: PluginOperation, work: () => unknown): unknown;
  wrapOperationAttemptFn(info: PluginAttempt, work: () => unknown): unknown;
  onOperationAttemptEnd(info: PluginAttempt): Promise<void>;
}

/** Steps under way, by the ids of the SDK's operations. */
interface Invocation {
  readonly executionArn: string;
  /** The attempt with which a step was begun and not ended before this invocation. */
  readonly begun: Map<string, number>;
  readonly running: Map<
    string,
    { readonly step: CurrentStep; readonly keyHash: string; readonly since: number }
  >;
}

/** A durable context, as the async context in which its work runs. */
interface Scope {
  readonly invocation: Invocation;
  readonly outer?: Scope;
  /** The names of the child contexts. */
  readonly path: readonly string[];
  operation?: Omit<CoveringOperation, "place">;
}

const scopes = shared("durable scope", () => new AsyncLocalStorage<Scope>());

/** From now on the operation covers the steps of the durable context in which this runs. Does nothing without the plugin. */
export function coverScope(operation: Omit<CoveringOperation, "place">): void {
  const scope = scopes.getStore();
  if (scope) scope.operation = operation;
}

function coveringOperation(scope: Scope): Scope["operation"] {
  return scope.operation ?? (scope.outer && coveringOperation(scope.outer));
}

/** The SDK checks the instances of a plugin from the environment against a class. */
class OncePlugin implements DurablePlugin {
  readonly #observe: Observe;
  readonly #clock: Clock;

  constructor({ observe = decisionLog(), clock = systemClock }: OncePluginOptions) {
    this.#observe = observe;
    this.#clock = clock;
  }

  wrapInvocation<T>({ executionArn, operations }: PluginInvocation, invocation: () => T): T {
    const begun = Object.values(operations).filter(({ status }) => status === "STARTED");
    const attempts = new Map(begun.map(({ id, attempt = 0 }) => [id, attempt + 1]));
    return scopes.run(
      { invocation: { executionArn, begun: attempts, running: new Map() }, path: [] },
      invocation,
    );
  }

  wrapChildContextFn({ name = "" }: PluginOperation, work: () => unknown): unknown {
    const outer = scopes.getStore() as Scope;
    return scopes.run({ invocation: outer.invocation, outer, path: [...outer.path, name] }, work);
  }

  wrapOperationAttemptFn({ id, name, subType, attempt }: PluginAttempt, work: () => unknown): unknown {
    const scope = scopes.getStore() as Scope;
    const { executionArn, begun, running } = scope.invocation;
    const { recordKey, startedAt, fingerprint } = coveringOperation(scope) ?? {};
    const within = recordKey === undefined ? [executionArn] : [recordKey, `${startedAt}`, `${fingerprint}`];
    // The id is only a place: another execution may have another item there, so the names count too.
    const keyHash = hashTuple("onceonly/durable-plugin/1", ...within, ...scope.path, name ?? "", id);
    const step: CurrentStep = {
      name: name ?? "unnamed",
      childKey: (given = step.name, limits) => deriveChildKey({ recordKey: keyHash }, given, limits),
    };
    const isInterrupted = begun.get(id) === attempt;
    begun.delete(id);
    try {
      return runInStep(step, work);
    } finally {
      // By now the work has begun, so it's known whether it reports itself. A poll isn't an effect.
      if (!step.reportsItself && subType !== "WaitForCondition") {
        running.set(id, { step, keyHash, since: this.#clock.now() });
        if (isInterrupted) this.#report({ id, attempt }, "taken-over", 0);
      }
    }
  }

  async onOperationAttemptEnd(info: PluginAttempt): Promise<void> {
    const { running } = (scopes.getStore() as Scope).invocation;
    const known = running.get(info.id);
    if (!known) return;
    const isRecorded = info.outcome === "SUCCEEDED" || info.status === "FAILED";
    this.#report(info, isRecorded ? "executed" : "released", this.#clock.now() - known.since);
    running.delete(info.id);
  }

  #report(
    { id, attempt, error }: PluginAttempt,
    decision: DecisionEvent["decision"],
    durationMs: number,
  ): void {
    const { step, keyHash } = (scopes.getStore() as Scope).invocation.running.get(id) as {
      step: CurrentStep;
      keyHash: string;
    };
    const about = { operation: step.name, scope: "", keyHash };
    reportDecision(this.#observe, about, { decision, attempt, durationMs, ...(error && { error }) });
  }
}

/**
 * Gives every step of a durable handler a child key and reports what happens to it, without changes in the handler:
 * `withDurableExecution(handler, { plugins: [oncePlugin()] })`. Code in a step reads the key by `currentChildKey()`. The key is made of
 * the execution, the step's place and the names; within `idempotentDurable` of the operation instead of the execution, so that the next
 * execution for the same request sends the same keys. So give the steps of a loop names with their item's id.
 *
 * A plugin can't stop a step from running twice if its invocation dies before the checkpoint: the system that gets the key has to.
 * `onceStep` can. The SDK marks its plugin interface as experimental.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function oncePlugin(options: OncePluginOptions = {}): DurablePlugin {
  checkOptions(options, { observe: aFunction, clock: methods("now", "sleep") }, []);
  return new OncePlugin(options);
}

/**
 * The same plugin, for functions that aren't changed at all: the SDK loads it if the environment variable
 * `DURABLE_EXECUTION_PLUGINS` is `onceonly/durable`.
 */
export const durableExecutionPluginProvider = {
  pluginApiVersion: 1,
  pluginType: OncePlugin as new (options?: OncePluginOptions) => DurablePlugin,
  createPlugin: (): DurablePlugin => oncePlugin(),
} as const;

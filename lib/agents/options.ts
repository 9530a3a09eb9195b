/** The options of a tool beyond the engine's, and their rules. */
import { aFunction, type Check, checkOptions } from "../core/option-checks.ts";
import { ENGINE_CHECKS, type EngineOptions, withDefaults } from "../core/options.ts";
import { type ResolvedOptions, resolveOptions } from "../core/resolved-options.ts";
import type { Verify } from "../core/verify.ts";

/** They make no sense for a tool: its key is a hash or the agent's, and agents can't know that a run was unprotected. */
type Excluded = "fingerprint" | "keyFormat" | "lookFirst" | "mode" | "whenAbandoned" | "whenStoreFails";

export interface OnceToolOptions<
  Args = Readonly<Record<string, unknown>>,
  Context extends readonly unknown[] = readonly unknown[],
  Write = unknown,
> extends Omit<EngineOptions<Write>, Excluded> {
  /** The tool's stable name, 1 to 64 characters. It is part of the key, so a renamed tool starts over. */
  readonly operation: string;
  /**
   * The arguments that say what the tool does, such as `["orderId", "cents"]`: two calls that agree in them are the same call.
   * Leave out free text, such as a comment or the body of a mail, because an agent words it differently each time. A call that
   * lacks one of them is refused. For nested or optional arguments pass a function that returns the values as JSON.
   */
  readonly intent: readonly (keyof Args & string)[] | ((args: Args) => unknown);
  /**
   * Returns the principal that owns the key, as your server has verified it: 1 to 256 characters. It gets what the toolkit
   * passes to the tool after the arguments, so a prompt can't choose it. With `"public"`, all agents share their keys and can
   * read each other's results.
   */
  readonly scope: ((...context: Context) => string | undefined) | "public";
  /**
   * Returns the id of the plan: of the task or conversation in which the agent calls the tool, which stays the same when the
   * agent plans again, reconnects or resumes. Used for calls without an `idempotencyKey`.
   * @default - `planId` in `_meta`, else the argument `planId`
   */
  readonly plan?: (args: Args, ...context: Context) => string | undefined;
  /**
   * The `outputSchema` that you register the tool with, if it has one. MCP requires each result to fit it, except one with
   * `isError`: such a tool answers a call whose outcome is unknown with `isError: true`.
   * @default - none
   */
  readonly outputSchema?: unknown;
  /**
   * How long a finished call is honoured, in seconds: at least as long as a plan can be resumed.
   * @default 604800 (a week)
   */
  readonly retentionSeconds?: number;
  /**
   * How long a crash blocks the key, in seconds. The lease is renewed while the tool runs, except in a Lambda function of the
   * default kind: there, set the function's timeout.
   * @default 30
   */
  readonly leaseSeconds?: number;
  /**
   * What a call does while another one holds a live claim: wait for its result, or answer "pending" immediately.
   * @default { waitSeconds: 3 }
   */
  readonly whenInProgress?: NonNullable<EngineOptions["whenInProgress"]>;
  /**
   * What to do when an earlier attempt died and its outcome is unknown, or when its caller cancelled and the tool then failed.
   * A function decides: docs/guides/payment-providers.md. `"hold"` answers "pending" until an operator or the reconciler
   * resolves the key. `"run"` runs the tool again.
   * @default "hold"; "run" for a store that rolls such an attempt back, such as PostgresTransactions
   */
  readonly whenAbandoned?: "run" | "hold" | Verify<Args>;
  /**
   * Decides whether a result is final. A result that isn't stored releases the key, unless something was committed.
   * @default - every result without `isError: true`
   */
  readonly shouldStore?: (result: unknown) => boolean;
}

const { fingerprint: _, keyFormat, lookFirst, mode, whenStoreFails, ...ENGINE } = ENGINE_CHECKS;

const TOOL_CHECKS: Readonly<Record<keyof OnceToolOptions, Check>> = {
  ...ENGINE,
  intent: [
    'must be a list of argument names, such as ["orderId", "cents"], or a function of the arguments',
    (value) =>
      typeof value === "function" ||
      (Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === "string")),
  ],
  scope: [
    'must be a function that returns the verified principal, or "public"',
    (value) => value === "public" || typeof value === "function",
    "explicit",
  ],
  plan: aFunction,
  outputSchema: ["is the tool's `outputSchema`", () => true],
};

const TOOL_DEFAULTS = {
  retentionSeconds: 604_800,
  leaseSeconds: 30,
  whenInProgress: { waitSeconds: 3 },
  shouldStore: (result: unknown) => !isFailed(result),
} as const;

/** Whether a tool reports that it failed, as MCP does. */
export const isFailed = (result: unknown): boolean =>
  (Object(result) as { readonly isError?: unknown }).isError === true;

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function engineOptionsOf<Args, Context extends readonly unknown[], Write>(
  options: OnceToolOptions<Args, Context, Write>,
): ResolvedOptions<Write> {
  checkOptions(options, TOOL_CHECKS, ["operation", "store", "intent", "scope"]);
  const { intent, scope, plan, outputSchema, ...given } = options;
  // A store that can't hold a key rolls an abandoned attempt back.
  const whenAbandoned = typeof options.store.unknownOutcomes === "function" ? "hold" : undefined;
  return resolveOptions<Write>(
    withDefaults(given, {
      ...TOOL_DEFAULTS,
      ...(whenAbandoned && { whenAbandoned }),
    }) as EngineOptions<Write>,
  );
}

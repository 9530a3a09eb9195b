/** The engine for any async code: queue workers, scripts, servers. */
import { remainingMsOf } from "./clock.ts";
import { refuseDurable } from "./durable.ts";
import { perform } from "./engine.ts";
import { IdempotencyKeyInvalidError, InvalidOptionError, ScopeMissingError } from "./errors.ts";
import type { Execution } from "./execution.ts";
import { fingerprintsOf } from "./fingerprint.ts";
import { identify, PUBLIC_SCOPE } from "./identity.ts";
import { kindOf } from "./kind-of.ts";
import { executionOf, type LambdaContext } from "./lambda-context.ts";
import type { CallInput } from "./ongoing-call.ts";
import { checkOptions, methods, oneOf } from "./option-checks.ts";
import type { EngineOptions } from "./options.ts";
import { type Outcome, resultOf } from "./outcome.ts";
import { type ResolvedOptions, resolveOptions } from "./resolved-options.ts";

/** How a call returns: the result as it is, or together with whether it was replayed. */
export type Returns = "result" | "outcome";

export interface RunOnceOptions<Write = unknown, R extends Returns = "result"> extends EngineOptions<Write> {
  /**
   * The verified owner of the key, such as a tenant: 1 to 256 characters.
   * @default - the operation is public
   */
  readonly scope?: string;
  /**
   * The current Lambda invocation's context, passed as `{ ...options, context }`, so that the lease lasts for the remaining
   * time.
   * @default - none; `leaseSeconds` is then required, except in the optimistic mode
   */
  readonly context?: Pick<LambdaContext, "getRemainingTimeInMillis">;
  /**
   * With `"outcome"`, calls return `{ result, replayed }`, so that you can see whether `fn` ran. Errors of `fn` are thrown
   * either way.
   * @default "result"
   */
  readonly returns?: R;
}

/** The result, and whether it was recorded before this call. */
export interface OnceOutcome<T> {
  readonly result: T;
  /** The recorded result comes from another call: `fn` did not run in this one, or its attempt was not the one that counts. */
  readonly replayed: boolean;
}

export type Returned<T, R extends Returns> = R extends "outcome" ? OnceOutcome<T> : T;

const resolved = new WeakMap<object, ResolvedOptions<never>>();

/**
 * Runs `fn` once per operation, scope and `key`, and returns the same result to every call. The fingerprint is made from
 * `input`: the same key with another input is refused.
 *
 * The result must be JSON, because it is stored, and the first caller gets it exactly as later ones do. `options` are checked
 * once per object.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`), IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`) and PayloadInvalidError
 * (`PAYLOAD_INVALID`) before any I/O; ExecutionInProgressError (`EXECUTION_IN_PROGRESS`), FingerprintMismatchError
 * (`FINGERPRINT_MISMATCH`), StoreUnavailableError (`STORE_UNAVAILABLE`) and the others of docs/reference/errors.md; and the errors of
 * `fn`.
 */
export async function runOnce<T, Write = unknown, R extends Returns = "result">(
  options: RunOnceOptions<Write, R>,
  key: string,
  input: unknown,
  fn: (execution: Execution<Write>) => T | Promise<T>,
): Promise<Returned<T, R>> {
  const outcome = await performOnce(options, key, input, fn);
  return answerAs(options.returns, outcome) as Returned<T, R>;
}

export const RETURNS_CHECK = oneOf("result", "outcome");
const ONCE_CHECKS = { context: methods("getRemainingTimeInMillis"), returns: RETURNS_CHECK };

/** @throws the failure's error. */
export function answerAs(returns: Returns | undefined, outcome: Outcome): unknown {
  return returns === "outcome" ? onceOutcomeOf(outcome) : resultOf(outcome);
}

/** @throws the failure's error. */
export function onceOutcomeOf(outcome: Outcome): OnceOutcome<unknown> {
  return { result: resultOf(outcome), replayed: outcome.replayed };
}

/** @throws as `runOnce`, but an error of `fn` is a failure in the outcome. */
export function performOnce<Write>(
  options: RunOnceOptions<Write, Returns>,
  key: string,
  input: unknown,
  fn: (execution: Execution<Write>) => unknown,
  about: Pick<CallInput, "usedSince"> = {},
): Promise<Outcome> {
  checkArguments(options, key, input, fn);
  refuseDurable("fn", input);
  const engineOptions = resolveOnce(options);
  const identity = identify(engineOptions.operation, scopeOf(options), key, engineOptions.keyPattern);
  const fingerprints = fingerprintsOf(engineOptions.fingerprints, input);
  const { context } = options;
  const call = {
    identity,
    fingerprints,
    within: executionOf(context),
    remainingMs: remainingMsOf(context),
    payload: input,
    ...about,
  };
  return perform(engineOptions, call, fn);
}

/**
 * JavaScript accepts arguments in any order, so each message shows which kind of value was passed in which position.
 * @throws InvalidOptionError (`INVALID_OPTION`), IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`)
 */
function checkArguments(
  ...given: readonly [options: unknown, key: unknown, input: unknown, fn: unknown]
): void {
  const [options, key, input, fn] = given;
  const isObject = typeof options === "object" && options !== null;
  const isCalled = typeof fn === "function";
  if (isObject && isCalled && (typeof key === "string" || typeof input !== "string")) return;
  const usage = `call runOnce(options, key, input, fn); got (${given.map(kindOf).join(", ")})`;
  if (isObject && isCalled) {
    throw new IdempotencyKeyInvalidError(
      `the idempotency key must be a string and come before the input: ${usage}`,
    );
  }
  if (!isObject) throw new InvalidOptionError("options", `must be an object and come first: ${usage}`);
  throw typeof input === "function"
    ? new InvalidOptionError("input", `must come before \`fn\`, and be given: ${usage}`)
    : new InvalidOptionError("fn", `must be a function: ${usage}`);
}

/** An intended scope that is missing must not become the public one. */
function scopeOf(options: { readonly scope?: string }): string {
  if (!("scope" in options)) return PUBLIC_SCOPE;
  if (!options.scope) throw new ScopeMissingError("`scope` is empty: leave it out if the key has no owner");
  return options.scope;
}

function resolveOnce<Write>(options: RunOnceOptions<Write, Returns>): ResolvedOptions<Write> {
  const known = resolved.get(options);
  if (known !== undefined) return known as unknown as ResolvedOptions<Write>;
  const { scope: _, context, returns, ...engineOptions } = options;
  checkOptions({ context, returns }, ONCE_CHECKS, []);
  const fresh = resolveOptions<Write>(engineOptions);
  resolved.set(options, fresh as unknown as ResolvedOptions<never>);
  return fresh;
}

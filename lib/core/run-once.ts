/** The engine for any async code: queue workers, scripts, servers. */
import { remainingMsOf } from "./clock.ts";
import { refuseDurable } from "./durable.ts";
import { perform } from "./engine.ts";
import { ScopeMissingError } from "./errors.ts";
import type { Execution } from "./execution.ts";
import { fingerprintsOf } from "./fingerprint.ts";
import { identify, PUBLIC_SCOPE } from "./identity.ts";
import { executionOf, type LambdaContext } from "./lambda-context.ts";
import type { CallInput } from "./ongoing-call.ts";
import { checkOptions, methods } from "./option-checks.ts";
import type { EngineOptions } from "./options.ts";
import { type Outcome, resultOf } from "./outcome.ts";
import { type ResolvedOptions, resolveOptions } from "./resolved-options.ts";

export interface RunOnceOptions<Write = unknown> extends EngineOptions<Write> {
  /**
   * The verified owner of the key, such as a tenant: 1 to 256 characters.
   * @default - the operation belongs to nobody
   */
  readonly scope?: string;
  /**
   * The context of the Lambda invocation that calls, for a lease of the time that is left: `{ ...options, context }`.
   * @default - none; then `leaseSeconds` is required, but in the optimistic mode
   */
  readonly context?: Pick<LambdaContext, "getRemainingTimeInMillis">;
}

const resolved = new WeakMap<object, ResolvedOptions<never>>();

/**
 * Runs `fn` once per operation, scope and `key`, and answers every call with the same result. `input` is what
 * the fingerprint is made of: the same key with another input is refused.
 *
 * The result must be JSON: it is stored, and the first caller gets it as every later one will. `options` are
 * checked once per object.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`), IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`) and
 * PayloadInvalidError (`PAYLOAD_INVALID`) before any I/O; ExecutionInProgressError (`EXECUTION_IN_PROGRESS`),
 * FingerprintMismatchError (`FINGERPRINT_MISMATCH`), StoreUnavailableError (`STORE_UNAVAILABLE`) and the others of
 * docs/use/errors.md; and what `fn` throws.
 */
export async function runOnce<T, Write = unknown>(
  options: RunOnceOptions<Write>,
  key: string,
  input: unknown,
  fn: (execution: Execution<Write>) => T | Promise<T>,
): Promise<T> {
  return resultOf(await performOnce(options, key, input, fn)) as T;
}

/** A result, and whether it was there before. */
export interface OnceOutcome<T> {
  readonly result: T;
  /** The result is on record from another call: `fn` did not run in this one, or its attempt was not the one that counts. */
  readonly replayed: boolean;
}

/**
 * `runOnce` for callers who want to know whether the result was replayed: `const { result, replayed } = await
 * runOnceOutcome(options, key, input, fn)`. What `fn` throws is thrown, first and replayed.
 * @throws as `runOnce`.
 */
export async function runOnceOutcome<T, Write = unknown>(
  options: RunOnceOptions<Write>,
  key: string,
  input: unknown,
  fn: (execution: Execution<Write>) => T | Promise<T>,
): Promise<OnceOutcome<T>> {
  return onceOutcomeOf(await performOnce(options, key, input, fn)) as OnceOutcome<T>;
}

/** @throws the failure's error. */
export function onceOutcomeOf(outcome: Outcome): OnceOutcome<unknown> {
  return { result: resultOf(outcome), replayed: outcome.replayed };
}

/** @throws as `runOnce`; what `fn` throws is a failure of the outcome. */
export function performOnce<Write>(
  options: RunOnceOptions<Write>,
  key: string,
  input: unknown,
  fn: (execution: Execution<Write>) => unknown,
  about: Pick<CallInput, "usedSince"> = {},
): Promise<Outcome> {
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

/** A scope that was meant and is not there must not become the public one. */
function scopeOf(options: { readonly scope?: string }): string {
  if (!("scope" in options)) return PUBLIC_SCOPE;
  if (!options.scope)
    throw new ScopeMissingError("the scope is empty: leave it out where nobody owns the key");
  return options.scope;
}

function resolveOnce<Write>(options: RunOnceOptions<Write>): ResolvedOptions<Write> {
  const known = resolved.get(options);
  if (known !== undefined) return known as unknown as ResolvedOptions<Write>;
  const { scope: _, context, ...engineOptions } = options;
  checkOptions({ context }, { context: methods("getRemainingTimeInMillis") }, []);
  const fresh = resolveOptions<Write>(engineOptions);
  resolved.set(options, fresh as unknown as ResolvedOptions<never>);
  return fresh;
}

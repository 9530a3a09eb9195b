/** Reads from an event who calls, under which key, and with what. */
import { tellObserver } from "../core/decisions.ts";
import { IdempotencyKeyMissingError, ScopeMissingError } from "../core/errors.ts";
import { identify, PUBLIC_SCOPE } from "../core/identity.ts";
import type { Call } from "../core/operation.ts";
import type { ResolvedOptions } from "../core/options.ts";
import { fingerprintsOf } from "../core/run-once.ts";
import { executionOf, type LambdaContext, remainingMsOf } from "./context.ts";
import type { EventReader } from "./options.ts";

export interface Reading<Write> {
  readonly options: ResolvedOptions<Write>;
  readonly key: EventReader<unknown>;
  readonly scope: EventReader<unknown> | "public";
  readonly whenKeyMissing: "reject" | "run" | undefined;
}

/**
 * All of it is checked before any I/O.
 * @throws IdempotencyKeyMissingError, IdempotencyKeyInvalidError, ScopeMissingError, PayloadInvalidError.
 */
export function readCall<Write>(
  { options, key: readKey, scope, whenKeyMissing }: Reading<Write>,
  event: unknown,
  context: unknown,
  more?: Partial<Call>,
): Call {
  const { operation, observe, random, keyPattern } = options;
  const lambdaContext = context as LambdaContext;
  const key = readKey(event, lambdaContext) ?? undefined;
  const keyIsFresh = key === undefined;
  if (keyIsFresh && whenKeyMissing !== "run") {
    const error = new IdempotencyKeyMissingError("no idempotency key: send one per operation");
    tellObserver(observe, { decision: "key-missing", operation, durationMs: 0, error });
    throw error;
  }
  const owner = scope === "public" ? PUBLIC_SCOPE : scope(event, lambdaContext);
  if (!owner && scope !== "public")
    throw new ScopeMissingError("`scope` yielded no verified caller: check the authorizer");
  return {
    ...more,
    identity: keyIsFresh
      ? identify(operation, owner as string, random.token())
      : identify(operation, owner as string, key, keyPattern),
    fingerprints: fingerprintsOf(options, event),
    within: executionOf(context),
    remainingMs: remainingMsOf(context),
    keyIsFresh,
  };
}

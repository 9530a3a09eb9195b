/** Reads from an event who calls, under which key, and with what. */

import { tellObserver } from "../core/decisions.ts";
import { IdempotencyKeyInvalidError, IdempotencyKeyMissingError, ScopeMissingError } from "../core/errors.ts";
import { identify, keyFault, PUBLIC_SCOPE } from "../core/identity.ts";
import type { Call } from "../core/operation.ts";
import type { ResolvedOptions } from "../core/options.ts";
import { fingerprintsOf } from "../core/run-once.ts";
import { type LambdaContext, remainingMsOf } from "./context.ts";
import type { EventReader } from "./options.ts";

export interface Reading<Write> {
  readonly options: ResolvedOptions<Write>;
  readonly key: EventReader<unknown>;
  readonly scope: EventReader<unknown> | "public";
  readonly whenKeyMissing: "reject" | "run";
}

/**
 * The key is checked before the scope, and both before any I/O.
 * @throws IdempotencyKeyMissingError, IdempotencyKeyInvalidError, ScopeMissingError, PayloadInvalidError.
 */
export function readCall<Write>(reading: Reading<Write>, event: unknown, context: unknown): Call {
  const { options, scope, whenKeyMissing } = reading;
  const lambdaContext = context as LambdaContext;
  const given = reading.key(event, lambdaContext) ?? undefined;
  if (given === undefined && whenKeyMissing === "reject") {
    const error = new IdempotencyKeyMissingError(
      "the request carries no idempotency key: send one per operation",
    );
    const { observe, operation } = options;
    tellObserver(observe, { decision: "key-missing", operation, durationMs: 0, error });
    throw error;
  }
  const key = given ?? options.random.token();
  const fault = keyFault(key);
  if (fault !== undefined) throw new IdempotencyKeyInvalidError(`the idempotency key ${fault}`);
  const owner = scope === "public" ? PUBLIC_SCOPE : scope(event, lambdaContext);
  if (scope !== "public" && !owner) {
    throw new ScopeMissingError("no verified caller: `scope` yielded nothing, check the authorizer");
  }
  return {
    identity: identify(options.operation, owner as string, key),
    fingerprints: fingerprintsOf(options, event),
    remainingMs: remainingMsOf(context),
    keyIsFresh: given === undefined,
  };
}

/** The seam between the form of an event (plain, HTTP) and the way to wrap a handler (Middy, plain function). */
import type { Work } from "../core/attempt.ts";
import { remainingMsOf } from "../core/clock.ts";
import { tellObserver } from "../core/decisions.ts";
import { IdempotencyKeyMissingError, InvalidOptionError, ScopeMissingError } from "../core/errors.ts";
import { fingerprintsOf } from "../core/fingerprint.ts";
import { identify, isUnawaited, PUBLIC_SCOPE } from "../core/identity.ts";
import { executionOf, type LambdaContext } from "../core/lambda-context.ts";
import type { CallInput } from "../core/ongoing-call.ts";
import type { ResolvedOptions } from "../core/resolved-options.ts";
import type { WithIdempotency } from "./context.ts";
import { warnOnFirstCall } from "./first-call.ts";
import type { EventReader } from "./options.ts";

/**
 * Reads one event, before anything can change it.
 * @param fill completes the event once key and caller are known, such as with the body of a request
 */
export type Face<Write> = (
  event: unknown,
  context: unknown,
  fill?: () => Promise<void>,
) => Run<Write> | Passing<Write>;

/** The event passes without a record, and the handler gets this context. */
interface Passing<Write> {
  readonly context: LambdaContext & WithIdempotency<Write>;
}

/** Runs work under the protocol. Resolves to the answer to the event: a result, or the response for an error. */
export type Run<Write> = (work: Work<Write>) => Promise<unknown>;

/** How a face finds key and scope in its events. */
export interface CallReading<Write> {
  readonly options: ResolvedOptions<Write>;
  readonly key: EventReader<unknown>;
  readonly scope: EventReader<unknown> | "public";
  readonly whenKeyMissing: "reject" | "run" | undefined;
  /** What is said of an event without a key. */
  readonly keyMissing?: string;
}

/**
 * Reads who calls, under which key, and with what. Everything is checked before any I/O.
 * @throws IdempotencyKeyMissingError, IdempotencyKeyInvalidError, ScopeMissingError, PayloadInvalidError.
 */
export function readCall<Write>(
  reading: CallReading<Write>,
  event: unknown,
  context: unknown,
  more?: Partial<CallInput>,
): CallInput {
  return withPayload(reading, readCaller(reading, event, context), event, more);
}

/** Who calls, and under which key. */
export type Caller = Omit<CallInput, "fingerprints" | "payload">;

/** @throws PayloadInvalidError. */
export function withPayload<Write>(
  { options }: CallReading<Write>,
  caller: Caller,
  event: unknown,
  more?: Partial<CallInput>,
): CallInput {
  return { ...more, ...caller, fingerprints: fingerprintsOf(options.fingerprints, event), payload: event };
}

/** @throws IdempotencyKeyMissingError, IdempotencyKeyInvalidError, ScopeMissingError. */
export function readCaller<Write>(
  {
    options,
    key: readKey,
    scope,
    whenKeyMissing,
    keyMissing = "no idempotency key: send one per operation",
  }: CallReading<Write>,
  event: unknown,
  context: unknown,
): Caller {
  const { operation, observe, random, keyPattern } = options;
  const lambdaContext = context as LambdaContext;
  const key = readKey(event, lambdaContext) ?? undefined;
  const keyIsFresh = key === undefined;
  if (keyIsFresh && whenKeyMissing !== "run") {
    const error = new IdempotencyKeyMissingError(keyMissing);
    tellObserver(observe, { operation }, { decision: "key-missing", durationMs: 0, error });
    throw error;
  }
  const owner = scope === "public" ? PUBLIC_SCOPE : scope(event, lambdaContext);
  if (isUnawaited(owner))
    throw new InvalidOptionError(
      "scope",
      "must return the caller, not a promise: look the caller up in an authorizer or an earlier middleware",
      owner,
    );
  if (!owner && scope !== "public")
    throw new ScopeMissingError("`scope` yielded no verified caller: check the authorizer");
  const remainingMs = remainingMsOf(context);
  warnOnFirstCall({ options, event, context: lambdaContext, key, readKey, owner, remainingMs });
  return {
    identity: keyIsFresh
      ? identify(operation, owner as string, random.token())
      : identify(operation, owner as string, key, keyPattern),
    within: executionOf(context),
    remainingMs,
    keyIsFresh,
  };
}

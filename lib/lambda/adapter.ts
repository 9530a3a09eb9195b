/** Separates the form of an event (plain, HTTP) from the way to wrap a handler (Middy, plain function). */
import type { Work } from "../core/attempt.ts";
import { remainingMsOf } from "../core/clock.ts";
import { reportDecision } from "../core/decisions.ts";
import { IdempotencyKeyMissingError, InvalidOptionError, ScopeMissingError } from "../core/errors.ts";
import { fingerprintsOf } from "../core/fingerprint.ts";
import { identify, isUnawaited, PUBLIC_SCOPE } from "../core/identity.ts";
import { executionOf, type LambdaContext } from "../core/lambda-context.ts";
import type { CallInput } from "../core/ongoing-call.ts";
import type { Outcome } from "../core/outcome.ts";
import type { ResolvedOptions } from "../core/resolved-options.ts";
import type { WithIdempotency } from "./context.ts";
import { warnOnFirstCall } from "./first-call.ts";
import type { EventReader } from "./options.ts";

/**
 * Reads one event, before anything can change it.
 * @param fill completes the event once key and caller are known, such as with a request's body
 */
export type Adapter<Write> = (
  event: unknown,
  context: unknown,
  fill?: () => Promise<void>,
) => Run<Write> | Passing<Write>;

/** The event runs without a record, and the handler gets this context. */
interface Passing<Write> {
  readonly context: LambdaContext & WithIdempotency<Write>;
}

/**
 * Runs work under the protocol. Resolves to the response for the event: a result, or the response for an error.
 * @param onOutcome gets the outcome, if there is one, before the response
 */
export type Run<Write> = (work: Work<Write>, onOutcome?: (outcome: Outcome) => void) => Promise<unknown>;

/** How a adapter finds key and scope in its events. */
export interface CallReading<Write> {
  readonly options: ResolvedOptions<Write>;
  readonly key: EventReader<unknown>;
  readonly scope: EventReader<unknown> | "public";
  readonly whenKeyMissing: "reject" | "run" | undefined;
  /** The message for an event without a key. */
  readonly keyMissing?: string;
}

/**
 * Reads caller, key and payload. Checks everything before any I/O.
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

/** The caller and the key. */
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

/** The verified caller, or the public scope. @throws InvalidOptionError, ScopeMissingError. */
export function ownerOf<Event, Context>(
  scope: "public" | ((event: Event, context: Context) => unknown),
  event: Event,
  context: Context,
): string {
  if (scope === "public") return PUBLIC_SCOPE;
  const owner = scope(event, context);
  const isReader = typeof owner === "function";
  if (isReader || isUnawaited(owner))
    throw new InvalidOptionError(
      "scope",
      isReader
        ? "returned a function instead of the caller: call the reader, as in `scope: callerFromJwt()`"
        : "returned a promise instead of the caller: look the caller up in an authorizer or an earlier middleware",
    );
  if (!owner) throw new ScopeMissingError("`scope` returned no verified caller: check the authorizer");
  return owner as string;
}

/** @throws IdempotencyKeyMissingError, IdempotencyKeyInvalidError, ScopeMissingError. */
export function readCaller<Write>(
  {
    options,
    key: readKey,
    scope,
    whenKeyMissing,
    keyMissing = "no idempotency key: send a key that is unique to this operation",
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
    reportDecision(observe, { operation }, { decision: "key-missing", durationMs: 0, error });
    throw error;
  }
  const owner = ownerOf(scope, event, lambdaContext);
  const remainingMs = remainingMsOf(context);
  warnOnFirstCall({ options, event, context: lambdaContext, key, readKey, owner, remainingMs });
  return {
    identity: keyIsFresh
      ? identify(operation, owner, random.token())
      : identify(operation, owner, key, keyPattern),
    within: executionOf(context),
    remainingMs,
    keyIsFresh,
  };
}

/** The adapters for events of any kind. */
import { perform } from "../core/engine.ts";
import type { LambdaContext } from "../core/lambda-context.ts";
import { agedCall, commitTimeReader, MESSAGE_DEFAULTS } from "../core/message-age.ts";
import { checkOptions } from "../core/option-checks.ts";
import { type EngineOptions, withDefaults } from "../core/options.ts";
import { resolveOptions } from "../core/resolved-options.ts";
import { answerAs, RETURNS_CHECK, type Returned, type Returns } from "../core/run-once.ts";
import { type Adapter, type CallReading, readCall } from "./adapter.ts";
import type { S3Key } from "./batch/s3-changes.ts";
import { isTrigger, returnedByTrigger, storedOfTrigger } from "./cognito.ts";
import type { WithIdempotency } from "./context.ts";
import { warnOfBatch } from "./first-call.ts";
import { type IdempotencyMiddleware, middlewareFor } from "./middy/middleware.ts";
import { type IdempotencyOptions, WRAPPER_CHECKS } from "./options.ts";
import { sentPart } from "./sent-part.ts";
import { type AnswerOf, type Handler, wrapHandler } from "./wrapper.ts";

/**
 * Middy middleware: the handler, and every middleware used after this one, runs once per operation, scope and key.
 * Middlewares used before this one run on every event, but on a replay Middy skips their after hooks. If you need those,
 * use `idempotent`.
 *
 * The result must be JSON, and every caller gets the same one. A committed result is what callers get, even if a later
 * hook changes the response. The response of an early hook counts. A hook that throws after the handler has returned
 * doesn't undo the result, and no error hook changes the record. docs/reference/middy-hooks.md lists the effect of each hook.
 *
 * Middy's early timeout leaves the outcome open, and the handler's later commit is kept. If `timeoutEarlyResponse`
 * returns a value or throws its own error, wrap your handler with the middleware's `handler`. Otherwise that value or
 * error looks like the handler's own.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately. On events: IdempotencyKeyMissingError
 * (`IDEMPOTENCY_KEY_MISSING`), IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`), ScopeMissingError
 * (`SCOPE_MISSING`), ExecutionInProgressError (`EXECUTION_IN_PROGRESS`), FingerprintMismatchError
 * (`FINGERPRINT_MISMATCH`), StoreUnavailableError (`STORE_UNAVAILABLE`), and the others in docs/reference/errors.md.
 */
export function idempotency<Event = unknown, Write = unknown>(
  options: IdempotencyOptions<Event, Write, Returns>,
): IdempotencyMiddleware<Event, Write> {
  return middlewareFor(plainAdapter(options));
}

/**
 * Wraps a handler so that it runs once per operation, scope and key. Inside a Middy stack, the hooks of all middlewares
 * run on replays too: `middy(idempotent(handler, options))`.
 *
 * @throws the same errors as `idempotency`.
 */
export function idempotent<
  Result,
  Event = unknown,
  Write = unknown,
  Rest extends readonly unknown[] = [],
  R extends Returns = "result",
>(
  handler: Handler<Event, LambdaContext & WithIdempotency<Write>, Rest, Result>,
  options: IdempotencyOptions<Event, Write, R>,
): (event: Event, context: LambdaContext, ...rest: Rest) => Promise<Returned<AnswerOf<Result, Rest>, R>> {
  return wrapHandler(() => plainAdapter(options), handler, options) as never;
}

export const PLAIN_CHECKS = { ...WRAPPER_CHECKS, returns: RETURNS_CHECK };

/** Result and errors reach the caller unchanged. */
function plainAdapter<Event, Write>(options: IdempotencyOptions<Event, Write, Returns>): Adapter<Write> {
  checkOptions(options, PLAIN_CHECKS, ["key"]);
  const { contentOf = sentPart } = Object(options.key) as Partial<S3Key>;
  const { returns, key, scope = "public", whenKeyMissing, fingerprint = contentOf, ...given } = options;
  const readTime = commitTimeReader(key);
  const engineOptions = resolveOptions({
    ...(readTime ? withDefaults(given, MESSAGE_DEFAULTS) : given),
    fingerprint,
  } as EngineOptions<Write>);
  const reading = { options: engineOptions, key, scope, whenKeyMissing } as CallReading<Write>;
  return (event, context) => async (work) => {
    warnOfBatch(engineOptions, event);
    const call = readCall(reading, event, context);
    const aged = agedCall(engineOptions, readTime?.(event as never), options);
    if (!isTrigger(event))
      return answerAs(returns, await perform(aged.options, { ...call, ...aged.about }, work));
    const sent = { ...event };
    const outcome = await perform(aged.options, { ...call, ...aged.about, toStored: storedOfTrigger }, work);
    return answerAs(
      returns,
      outcome.failure ? outcome : { ...outcome, result: returnedByTrigger(sent, outcome.result) },
    );
  };
}

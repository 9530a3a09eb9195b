/** The faces for events of any kind. */
import { perform } from "../core/engine.ts";
import type { LambdaContext } from "../core/lambda-context.ts";
import { agedCall, commitTimeReader, MESSAGE_DEFAULTS } from "../core/message-age.ts";
import { checkOptions } from "../core/option-checks.ts";
import { type EngineOptions, withDefaults } from "../core/options.ts";
import { type Outcome, resultOf } from "../core/outcome.ts";
import { resolveOptions } from "../core/resolved-options.ts";
import { type OnceOutcome, onceOutcomeOf } from "../core/run-once.ts";
import type { WithIdempotency } from "./context.ts";
import { type CallReading, type Face, readCall } from "./face.ts";
import { warnOfBatch } from "./first-call.ts";
import { type IdempotencyMiddleware, middlewareFor } from "./middy/middleware.ts";
import { FACE_CHECKS, type IdempotencyOptions } from "./options.ts";
import { sentPart } from "./sent-part.ts";
import { type AnswerOf, type Handler, wrapHandler } from "./wrapper.ts";

/**
 * Middy middleware: the handler, and every middleware used after this one, runs once per operation, scope and
 * key. Middlewares used before this one run on every event, but Middy skips their after hooks on a replay: use
 * `idempotent` where those matter.
 *
 * The result must be JSON, and is what every caller gets. A committed result is the answer, whatever a later
 * hook makes of the response. The answer of an early hook counts. A hook that throws after the handler has
 * returned does not undo the result, and no error hook changes the record. docs/use/middy.md lists the effect of each
 * hook.
 *
 * Middy's early timeout leaves the outcome open, and a later commit of the handler is kept. If `timeoutEarlyResponse`
 * returns a value or throws an error of its own, give the handler through the middleware's `handler`. Otherwise that value
 * or error looks like the handler's own.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) at once. On events: IdempotencyKeyMissingError
 * (`IDEMPOTENCY_KEY_MISSING`), IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`), ScopeMissingError
 * (`SCOPE_MISSING`), ExecutionInProgressError (`EXECUTION_IN_PROGRESS`), FingerprintMismatchError
 * (`FINGERPRINT_MISMATCH`), StoreUnavailableError (`STORE_UNAVAILABLE`), and the others of docs/use/errors.md.
 */
export function idempotency<Event = unknown, Write = unknown>(
  options: IdempotencyOptions<Event, Write>,
): IdempotencyMiddleware<Event, Write> {
  return middlewareFor(plainFace(options));
}

/**
 * Wraps a handler, so that it runs once per operation, scope and key. Inside a Middy stack the hooks of all its
 * middlewares run on replays too: `middy(idempotent(handler, options))`.
 *
 * @throws as `idempotency`.
 */
export function idempotent<Result, Event = unknown, Write = unknown, Rest extends readonly unknown[] = []>(
  handler: Handler<Event, LambdaContext & WithIdempotency<Write>, Rest, Result>,
  options: IdempotencyOptions<Event, Write>,
): (event: Event, context: LambdaContext, ...rest: Rest) => Promise<AnswerOf<Result, Rest>> {
  return wrapHandler(() => plainFace(options), handler);
}

/**
 * `idempotent` with an answer that says whether it was replayed: `{ result, replayed }`, such as for a Choice state of Step
 * Functions, or a caller that counts. The record holds the result alone.
 *
 * @throws as `idempotency`.
 */
export function idempotentOutcome<
  Result,
  Event = unknown,
  Write = unknown,
  Rest extends readonly unknown[] = [],
>(
  handler: Handler<Event, LambdaContext & WithIdempotency<Write>, Rest, Result>,
  options: IdempotencyOptions<Event, Write>,
): (event: Event, context: LambdaContext, ...rest: Rest) => Promise<OnceOutcome<AnswerOf<Result, Rest>>> {
  return wrapHandler(() => plainFace(options, onceOutcomeOf), handler) as never;
}

/** Result and errors reach the caller as they are. */
function plainFace<Event, Write>(
  options: IdempotencyOptions<Event, Write>,
  answerOf: (outcome: Outcome) => unknown = resultOf,
): Face<Write> {
  checkOptions(options, FACE_CHECKS, ["key"]);
  const { key, scope = "public", whenKeyMissing, fingerprint = sentPart, ...given } = options;
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
    return answerOf(await perform(aged.options, { ...call, ...aged.about }, work));
  };
}

/** HTTP: the key comes from a header, onceonly's errors become responses, and replays are marked. */
import { perform } from "../../core/engine.ts";
import { IdempotencyKeyInvalidError, InvalidOptionError, type PermanentError } from "../../core/errors.ts";
import type { CallInput } from "../../core/ongoing-call.ts";
import { checkOptions } from "../../core/option-checks.ts";
import type { EngineOptions } from "../../core/options.ts";
import type { Outcome } from "../../core/outcome.ts";
import { resolveOptions } from "../../core/resolved-options.ts";
import { readTraceparent } from "../../core/traceparent.ts";
import { type Adapter, type CallReading, type Run, readCaller, withPayload } from "../adapter.ts";
import type { HttpIdempotencyOptions, RequestKey } from "../options.ts";
import { HTTP_CHECKS } from "./checks.ts";
import { type HttpEvent, readHttpEvent } from "./event.ts";
import { formerFingerprintOf, httpFingerprint } from "./fingerprint.ts";
import { PROBLEM_STATUSES, permanentProblem, problemFor, READING_STATUSES } from "./problem.ts";
import { answerWith, type HttpResponse, isFinalResponse, toStoredResponse, withHeaders } from "./response.ts";
import { withoutRecord } from "./without-record.ts";

/** @throws InvalidOptionError (`INVALID_OPTION`) for a promise, which would skip every request. */
export function isSkippedBy<Event>(skip: HttpIdempotencyOptions<Event>["skip"], event: Event): boolean {
  const isSkipped: unknown = skip?.(event);
  if (!Object(isSkipped).then) return Boolean(isSkipped);
  // Its rejection would end the process.
  Promise.resolve(isSkipped).catch(() => {});
  throw new InvalidOptionError("skip", "must return a boolean, not a promise");
}

export function httpAdapter<Event, Write>(options: HttpIdempotencyOptions<Event, Write>): Adapter<Write> {
  checkOptions(options, HTTP_CHECKS, ["scope"]);
  const { defaults } = Object(options.key) as Partial<RequestKey>;
  const {
    key,
    scope,
    whenKeyMissing,
    methods = ["POST", "PATCH"],
    header = "Idempotency-Key",
    strict,
    responseHeaders,
    profile,
    skip,
    retentionSeconds = defaults?.retentionSeconds,
    fingerprint = defaults?.fingerprint ?? httpFingerprint,
    shouldStore = isFinalResponse,
    whenInProgress = { waitSeconds: 3 },
    ...rest
  } = options;
  const engineOptions = resolveOptions({
    ...rest,
    retentionSeconds,
    fingerprint,
    shouldStore,
    whenInProgress,
  } as EngineOptions<Write>);
  const { clock, operation } = engineOptions;
  profile?.check?.(options);
  const readingOf = (http: HttpEvent) => {
    const keyOfHeader = () => parseKeyHeader(http.headers(header), strict);
    return { options: engineOptions, key: key ?? keyOfHeader, scope, whenKeyMissing } as CallReading<Write>;
  };
  /** The engine's input from a request, in addition to caller and payload. */
  const ofRequest = (http: HttpEvent, event: unknown): Partial<CallInput> => ({
    isFormer: fingerprint === httpFingerprint ? formerFingerprintOf(event) : undefined,
    waitUntil: callerWaitsUntil(http, clock.now()),
    traceparent: traceOf(http),
    isHttp: true,
    toStored: (value: unknown) => toStoredResponse(value, http),
  });
  return (event, context, fill) => {
    const http = readHttpEvent(event, profile);
    if (!methods.includes(http.method) || isSkippedBy(skip, event as Event))
      return { context: withoutRecord(context) };
    const given = typeof responseHeaders === "function" ? responseHeaders(event as Event) : responseHeaders;
    const headers = profile?.headers ? { ...profile.headers(http.headers, header), ...given } : given;
    const answer: Run<Write> = async (work, onOutcome) => {
      let statuses: Readonly<Record<string, number>> = READING_STATUSES;
      let outcome: Outcome;
      try {
        const reading = readingOf(http);
        const caller = readCaller(reading, event, context);
        if (fill) await fill();
        const call = withPayload(reading, caller, event, ofRequest(http, event));
        statuses = PROBLEM_STATUSES;
        outcome = await perform(engineOptions, call, work);
        onOutcome?.(outcome);
        if (!outcome.failure) return answerWith(outcome, http);
      } catch (error) {
        return problemFor(error, statuses, http, operation);
      }
      return answerOfFailure(outcome.failure, http, operation);
    };
    return headers
      ? async (work, onOutcome) => withHeaders(http, await answer(work, onOutcome), headers)
      : answer;
  };
}

/** @throws the handler's own error, unless it is a PermanentError with a status */
function answerOfFailure(
  { error, isOurs, isPermanent }: NonNullable<Outcome["failure"]>,
  http: HttpEvent,
  operation: string,
): HttpResponse {
  if (isOurs) return problemFor(error, PROBLEM_STATUSES, http, operation);
  const problem = isPermanent ? permanentProblem(error as PermanentError, http, operation) : undefined;
  // The handler's other errors are rethrown, whatever their code.
  if (problem === undefined) throw error;
  return problem;
}

/** Several lines are ignored, because it's unclear which one counts. */
function traceOf({ headers }: HttpEvent): string | undefined {
  const [first, ...others] = headers("traceparent");
  return others.length === 0 ? readTraceparent(first) : undefined;
}

/** The earlier of the caller's preference (`Prefer: wait=10`, RFC 7240) and the gateway's limit. */
function callerWaitsUntil({ headers, gatewayEndsAt }: HttpEvent, now: number): number {
  const lines = headers("Prefer");
  if (lines.length === 0) return gatewayEndsAt;
  const preferred = /(?:^|,)\s*wait\s*=\s*"?(\d+)/i.exec(lines.join())?.[1];
  return Math.min(gatewayEndsAt, now + Number(preferred ?? Infinity) * 1000);
}

/**
 * One value, with the comma before the next. A quoted string may have parameters, which are skipped; a bare value is
 * visible ASCII without quotes, commas and semicolons.
 */
const VALUE =
  /[ \t]*(?:"((?:[ !#-[\]-~]|\\["\\])*)"(?:; *[a-z*][a-z\d_.*-]*(?:=(?:"(?:[ !#-[\]-~]|\\["\\])*"|[\w!#$%&'*+.^`|~:/?-]+))?)*|([!#-+\--:<-~]+))[ \t]*(?:,(?=.)|$)/gy;

/**
 * The one key in all lines of the header; `undefined` if there is no such header.
 * @throws IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`) for malformed lines, or two different keys.
 */
export function parseKeyHeader(lines: readonly string[], strict = false): string | undefined {
  const keys = new Set<string>();
  // Gateways join several lines of a header the same way.
  const rest = lines.join().replace(VALUE, (value: string, quoted: string | undefined, bare: string) => {
    if (strict && bare) return value;
    keys.add(quoted?.replace(/\\(.)/g, "$1") ?? bare);
    return "";
  });
  const [key, ...others] = keys;
  if (rest || (key === undefined && lines.length > 0))
    throw new IdempotencyKeyInvalidError("malformed idempotency key: send a string in double quotes");
  if (others.length > 0)
    throw new IdempotencyKeyInvalidError("the request has two different idempotency keys: send only one");
  return key;
}

/** onceonly's errors as problem details (RFC 9457). */
import { PROJECT_URL } from "../../contract.ts";
import { wasReported } from "../../core/decisions.ts";
import {
  type ExecutionInProgressError,
  isOnceonlyError,
  type OnceonlyError,
  type PayloadInvalidError,
  type PermanentError,
  type StoreUnavailableError,
} from "../../core/errors.ts";
import type { HttpEvent } from "./event.ts";
import { type HttpResponse, withHeader } from "./response.ts";

const TYPE_BASE = `${PROJECT_URL}/blob/main/docs/reference/errors.md`;

/**
 * Errors in a request that are found before any I/O. Other errors come from the functions that read it. SCOPE_MISSING is
 * 401 if the platform authenticated no caller.
 */
export const READING_STATUSES = {
  IDEMPOTENCY_KEY_MISSING: 400,
  IDEMPOTENCY_KEY_INVALID: 400,
  PAYLOAD_INVALID: 400,
  PAYLOAD_TOO_LARGE: 413,
  SCOPE_MISSING: 403,
} as const;

/** Errors not listed here are the service's own mistakes: they are thrown. */
export const PROBLEM_STATUSES = {
  ...READING_STATUSES,
  EXECUTION_IN_PROGRESS: 409,
  CLAIM_LOST: 409,
  OUTCOME_UNKNOWN: 409,
  RESULT_NOT_KEPT: 410,
  FINGERPRINT_MISMATCH: 422,
  RESPONSE_NOT_STORABLE: 500,
  RECORD_CORRUPT: 500,
  NESTED_EXECUTION: 500,
  STORE_UNAVAILABLE: 503,
} as const;

/**
 * The detail for the caller, if the error's own message names fields of a payload or a result, or reveals how the service
 * works.
 */
const DETAILS: Readonly<Record<string, string | undefined>> = {
  PAYLOAD_INVALID: "the payload can't be read",
  SCOPE_MISSING: "no verified caller owns this idempotency key",
  OUTCOME_UNKNOWN: "the outcome of an earlier attempt is unknown: retry later with the same key",
  RESPONSE_NOT_STORABLE: "the operation is done, but its response can't be repeated: don't send it again",
  RECORD_CORRUPT: "the record of this idempotency key can't be read: nothing was run",
  NESTED_EXECUTION: "the service called itself with the same idempotency key",
  PERMANENT: "this request will never succeed: don't send it again",
  STORE_UNAVAILABLE: "the service can't check idempotency keys at the moment",
};

/**
 * The response for an error that onceonly made about this request. The service's own faults are logged, unless an
 * observer already got them: their message isn't in the response.
 * @throws any other error.
 */
export function problemFor(
  error: unknown,
  statuses: Readonly<Record<string, number | undefined>>,
  event: HttpEvent,
  operation: string,
): HttpResponse {
  if (!isOnceonlyError(error)) throw error;
  const { code, message, retryable } = error;
  const usual = Object.hasOwn(statuses, code) ? statuses[code] : undefined;
  if (!usual) throw error;
  const isUnauthorized = code === "SCOPE_MISSING" && !event.isAuthenticated();
  // A permanent refusal by the store is the service's mistake, and no retry fixes it.
  const lasting = usual === 503 && !retryable ? 500 : usual;
  const status = isUnauthorized ? 401 : lasting;
  // A failed `verify` is the service's mistake too.
  const isOurFault = status >= 500 || (code === "OUTCOME_UNKNOWN" && error.cause !== undefined);
  if (isOurFault && !wasReported(error)) log(error, status, operation);
  const { detail = DETAILS[code] ?? message } = error as Partial<PayloadInvalidError>;
  const response = responseOf(code, status, { detail }, event);
  // RFC 9110 section 11.6.1: a 401 must name a scheme. All gateways can verify bearer tokens.
  if (isUnauthorized) return withHeader(event, response, "WWW-Authenticate", "Bearer");
  // Retry-After is in whole seconds.
  const { retryAfterSeconds = retryable ? 1 : undefined } = error as Partial<ExecutionInProgressError>;
  if (retryAfterSeconds === undefined) return response;
  return withHeader(event, response, "Retry-After", `${retryAfterSeconds}`);
}

/** The response for a PermanentError with a status; `undefined` for one without, or with one that isn't an error status. */
export function permanentProblem(
  error: PermanentError,
  event: HttpEvent,
  operation: string,
): HttpResponse | undefined {
  try {
    const { statusCode: status, message, name } = error;
    if (status === undefined || !Number.isInteger(status) || status < 400 || status > 599) return undefined;
    if (status >= 500) log(error, status, operation);
    // The convention of http-errors and the tools that read its errors.
    const { expose = status < 500 } = error;
    const shown = expose ? { detail: message, name } : { detail: DETAILS.PERMANENT };
    return responseOf("PERMANENT", status, shown, event);
  } catch {
    // A getter threw: the error reaches the caller unchanged.
    return undefined;
  }
}

function responseOf(code: string, status: number, more: object, event: HttpEvent): HttpResponse {
  const id = code.toLowerCase();
  const title = id.replaceAll("_", " ");
  const problem = { type: `${TYPE_BASE}#${id}`, title, status, ...more, code };
  const shaped = event.profile?.problem(problem) ?? { status, body: problem };
  return withHeader(
    event,
    { statusCode: shaped.status, body: JSON.stringify(shaped.body), isBase64Encoded: false },
    "Content-Type",
    shaped.contentType ?? "application/problem+json",
  );
}

/** One line in any log format of the function, without key, payload or result. */
function log(error: OnceonlyError, status: number, operation: string): void {
  const { code, message } = error;
  const { action, table } = error as Partial<StoreUnavailableError>;
  console.error(JSON.stringify({ level: "ERROR", code, status, operation, action, table, message }));
}

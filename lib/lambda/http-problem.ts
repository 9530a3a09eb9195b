/** Errors of onceonly as problem details (RFC 9457). */
import { type ExecutionInProgressError, isOnceonlyError } from "../core/errors.ts";
import type { HttpEvent } from "./http-event.ts";
import { type HttpResponse, withHeader } from "./http-response.ts";

const TYPE_BASE = "https://github.com/onceonly/onceonly/blob/main/docs/errors.md";

/**
 * Errors that are not here are mistakes of the service, or the handler's own: they are thrown. SCOPE_MISSING is 401
 * where nobody was authenticated.
 */
export const PROBLEM_STATUSES = {
  IDEMPOTENCY_KEY_MISSING: 400,
  IDEMPOTENCY_KEY_INVALID: 400,
  PAYLOAD_INVALID: 400,
  SCOPE_MISSING: 403,
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

/** The response for an error of onceonly about this key. @throws any other error. */
export function problemFor(
  error: unknown,
  event: HttpEvent,
  keyHash: string | undefined,
  now: number,
): HttpResponse {
  if (!isOnceonlyError(error)) throw error;
  const { code, message, retryable } = error;
  const statuses: Readonly<Record<string, number | undefined>> = PROBLEM_STATUSES;
  const isUnauthorized = code === "SCOPE_MISSING" && !event.isAuthenticated;
  const status = isUnauthorized ? 401 : statuses[code];
  // What another operation inside the handler ran into is the handler's business.
  if (!status || (error.keyHash ?? keyHash) !== keyHash) throw error;
  const { leaseExpiresAt = now } = error as Partial<ExecutionInProgressError>;
  const id = code.toLowerCase();
  const title = id.replaceAll("_", " ");
  const problem = { type: `${TYPE_BASE}#${id}`, title, status, detail: message, code };
  const response = withHeader(
    event,
    { statusCode: status, body: JSON.stringify(problem), isBase64Encoded: false },
    "Content-Type",
    "application/problem+json",
  );
  // RFC 9110 section 11.6.1: a 401 names a scheme. Gateways verify bearer tokens, whatever else they do.
  if (isUnauthorized) return withHeader(event, response, "WWW-Authenticate", "Bearer");
  if (!retryable) return response;
  // Retry-After has no smaller unit than a second.
  const wait = Math.max(1, Math.ceil((leaseExpiresAt - now) / 1000));
  return withHeader(event, response, "Retry-After", `${wait}`);
}

/** Errors of onceonly as problem details (RFC 9457). */
import { type ExecutionInProgressError, isOnceonlyError } from "../core/errors.ts";
import type { HttpEvent } from "./http-event.ts";
import { type HttpResponse, withHeaders } from "./http-response.ts";

const TYPE_BASE = "https://github.com/onceonly/onceonly/blob/main/docs/errors.md";

/** Errors that are not here are mistakes of the service, or the handler's own: they are thrown. */
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

/** The response for an error of onceonly about this key; `undefined` for errors that are thrown. */
export function problemFor(
  error: unknown,
  event: HttpEvent,
  keyHash: string | undefined,
  now: number,
): HttpResponse | undefined {
  if (!isOnceonlyError(error) || !Object.hasOwn(PROBLEM_STATUSES, error.code)) return undefined;
  // What another operation inside the handler ran into is the handler's business.
  if (error.keyHash !== undefined && error.keyHash !== keyHash) return undefined;
  const { code, message, retryable } = error;
  const { leaseExpiresAt = now } = error as Partial<ExecutionInProgressError>;
  const status = PROBLEM_STATUSES[code as keyof typeof PROBLEM_STATUSES];
  const id = code.toLowerCase();
  const problem = {
    type: `${TYPE_BASE}#${id}`,
    title: id.replaceAll("_", " "),
    status,
    detail: message,
    code,
  };
  // Retry-After has no smaller unit than a second.
  const wait = String(Math.max(1, Math.ceil((leaseExpiresAt - now) / 1000)));
  return withHeaders(
    event,
    { statusCode: status, body: JSON.stringify(problem), isBase64Encoded: false },
    {
      "Content-Type": "application/problem+json",
      ...(retryable && { "Retry-After": wait }),
    },
  );
}

/** Which failures may be temporary: the SDK's classification in its standard mode, under the same names. */

export type FailureKind = "THROTTLING" | "TRANSIENT" | "SERVER_ERROR" | "CLIENT_ERROR";

export interface WireFailure {
  readonly name?: string;
  readonly message?: string;
  /** Node's error code. */
  readonly code?: string;
  readonly cause?: unknown;
  readonly $metadata?: {
    readonly httpStatusCode?: number | undefined;
    /** The next try is signed with the service's time. */
    readonly clockSkewCorrected?: boolean | undefined;
    readonly retryAfterMs?: number | undefined;
  };
}

const THROTTLING = new Set([
  "BandwidthLimitExceeded",
  "EC2ThrottledException",
  "LimitExceededException",
  "PriorRequestNotComplete",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "RequestThrottled",
  "RequestThrottledException",
  "SlowDown",
  "ThrottledException",
  "Throttling",
  "ThrottlingException",
  "TooManyRequestsException",
  "TransactionInProgressException",
]);

/** The SDK's model marks the first one as retryable. The last one is ours. */
const TRANSIENT = new Set([
  "ReplicatedWriteConflictException",
  "TimeoutError",
  "RequestTimeout",
  "RequestTimeoutException",
  "UnreadableAnswerError",
]);

const OF_THE_NETWORK = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
]);

const OF_THE_SERVICE = new Set([500, 502, 503, 504]);

export function failureKind(error: unknown): FailureKind {
  const { name = "", $metadata = {} } = Object(error) as WireFailure;
  const { httpStatusCode = 0 } = $metadata;
  if (httpStatusCode === 429 || THROTTLING.has(name)) return "THROTTLING";
  if (isTransient(error, 0)) return "TRANSIENT";
  return httpStatusCode >= 500 ? "SERVER_ERROR" : "CLIENT_ERROR";
}

/** Causes may be circular. */
const MAX_CAUSES = 10;

function isTransient(error: unknown, depth: number): boolean {
  const { name = "", message = "", code = "", cause, $metadata = {} } = Object(error) as WireFailure;
  if (name === "AbortError") return false;
  return (
    $metadata.clockSkewCorrected === true ||
    (name === "InvalidSignatureException" && message.includes("Signature expired")) ||
    TRANSIENT.has(name) ||
    OF_THE_NETWORK.has(code) ||
    OF_THE_SERVICE.has($metadata.httpStatusCode ?? 0) ||
    (cause !== undefined && depth <= MAX_CAUSES && isTransient(cause, depth + 1))
  );
}

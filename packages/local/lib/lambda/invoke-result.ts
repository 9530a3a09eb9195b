// The result of one invocation, in the shapes and words of Lambda's Invoke API. Pure.

interface FailedInvocation {
  readonly requestId: string;
  readonly errorType: string;
  readonly errorMessage: string;
  /** The body that Lambda answers with, as JSON. */
  readonly payload: string;
}

/** All but `ok` are marked by Lambda with the header `X-Amz-Function-Error`. */
export type InvokeResult =
  | { readonly outcome: "ok"; readonly requestId: string; readonly payload: string }
  /** The handler threw, or the function could not be initialized. */
  | (FailedInvocation & { readonly outcome: "error"; readonly stackTrace: readonly string[] })
  /** The process was killed at its deadline. */
  | (FailedInvocation & { readonly outcome: "timedOut" })
  /** The process ended by itself, or was killed, before it answered. */
  | (FailedInvocation & { readonly outcome: "crashed" });

/** https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html: 6 MB, and a bit for the envelope. */
const LARGEST_RESPONSE_BYTES = 6_291_556;

export function answered(requestId: string, payload: string): InvokeResult {
  if (Buffer.byteLength(payload) <= LARGEST_RESPONSE_BYTES) return { outcome: "ok", requestId, payload };
  const errorType = "Function.ResponseSizeTooLarge";
  const errorMessage = `Response payload size exceeded maximum allowed payload size (${LARGEST_RESPONSE_BYTES} bytes).`;
  return { outcome: "error", ...failed(requestId, errorType, errorMessage), stackTrace: [] };
}

/** @param payload the runtime client's report: error type, message and trace, as JSON */
export function reportedError(requestId: string, payload: string): InvokeResult {
  const report = parseReport(payload);
  return {
    outcome: "error",
    requestId,
    errorType: String(report.errorType ?? "Runtime.Unknown"),
    errorMessage: String(report.errorMessage ?? ""),
    stackTrace: Array.isArray(report.trace) ? report.trace.map(String) : [],
    payload,
  };
}

export function timedOut(requestId: string, timeoutMs: number): InvokeResult {
  const after = `Task timed out after ${(timeoutMs / 1000).toFixed(2)} seconds`;
  return {
    outcome: "timedOut",
    ...failed(requestId, "Sandbox.Timedout", `RequestId: ${requestId} Error: ${after}`),
  };
}

/** @param reason as of `exitReason` */
export function crashed(requestId: string, reason: string): InvokeResult {
  return {
    outcome: "crashed",
    ...failed(requestId, "Runtime.ExitError", `RequestId: ${requestId} Error: ${reason}`),
  };
}

export function exitReason(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal !== null) return `Runtime exited with error: signal: ${SIGNAL_WORDS[signal] ?? signal}`;
  return code === 0
    ? "Runtime exited without providing a reason"
    : `Runtime exited with error: exit status ${code}`;
}

const SIGNAL_WORDS: Partial<Record<NodeJS.Signals, string>> = {
  SIGABRT: "aborted",
  SIGKILL: "killed",
  SIGSEGV: "segmentation fault",
  SIGTERM: "terminated",
};

function failed(requestId: string, errorType: string, errorMessage: string): FailedInvocation {
  return { requestId, errorType, errorMessage, payload: JSON.stringify({ errorType, errorMessage }) };
}

function parseReport(payload: string): { errorType?: unknown; errorMessage?: unknown; trace?: unknown } {
  try {
    return Object(JSON.parse(payload));
  } catch {
    return { errorMessage: payload };
  }
}

/** The W3C trace context that travels with a call and with its messages. */

/** https://www.w3.org/TR/trace-context/#traceparent-header */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** A malformed trace context is left out: tracing never stops anything. */
export function readTraceparent(value: unknown): string | undefined {
  return typeof value === "string" && TRACEPARENT.test(value) ? value : undefined;
}

/**
 * The W3C form of a trace header of X-Ray, for the option `traceparent`. Lambda sets the header for each invocation, in the
 * variable `_X_AMZN_TRACE_ID`. `undefined` for a header that names no segment. A process that serves several
 * invocations at the same time takes theirs from `@aws/lambda-invoke-store` instead.
 * https://docs.aws.amazon.com/xray/latest/devguide/xray-concepts.html#xray-concepts-tracingheader
 */
export function traceparentFromXRay(header: string | undefined): string | undefined {
  const part = (name: string) => new RegExp(`(?:^|;)\\s*${name}=([^;]*)`).exec(header ?? "")?.[1];
  const traceId = /^1-([\da-f]{8})-([\da-f]{24})$/.exec(part("Root") ?? "");
  const flags = part("Sampled") === "1" ? "01" : "00";
  return readTraceparent(traceId && `00-${traceId[1]}${traceId[2]}-${part("Parent")}-${flags}`);
}

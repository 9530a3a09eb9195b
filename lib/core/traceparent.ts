/** The W3C trace context that travels with a call and with its messages. */

/** https://www.w3.org/TR/trace-context/#traceparent-header */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** A malformed trace context is left out, because tracing must not stop a call. */
export function readTraceparent(value: unknown): string | undefined {
  return typeof value === "string" && TRACEPARENT.test(value) ? value : undefined;
}

/**
 * Converts an X-Ray trace header to the W3C form, for the option `traceparent`. Lambda sets the header for each invocation, in
 * the variable `_X_AMZN_TRACE_ID`. `undefined` if the header has no segment. A process that serves several invocations at the
 * same time gets theirs from `@aws/lambda-invoke-store` instead.
 * https://docs.aws.amazon.com/xray/latest/devguide/xray-concepts.html#xray-concepts-tracingheader
 */
export function traceparentFromXRay(header: string | undefined): string | undefined {
  const part = (name: string) => new RegExp(`(?:^|;)\\s*${name}=([^;]*)`).exec(header ?? "")?.[1];
  const traceId = /^1-([\da-f]{8})-([\da-f]{24})$/.exec(part("Root") ?? "");
  const flags = part("Sampled") === "1" ? "01" : "00";
  return readTraceparent(traceId && `00-${traceId[1]}${traceId[2]}-${part("Parent")}-${flags}`);
}

/** Reads the W3C trace context out of the trace header of X-Ray. Pure. */
import { readTraceparent } from "./prepare-message.ts";

/**
 * The W3C form of a trace header of X-Ray, for the option `traceparent`. Lambda sets the header for each invocation, in the
 * variable `_X_AMZN_TRACE_ID`. `undefined` for a header that names no segment. A process that serves several
 * invocations at once takes theirs from `@aws/lambda-invoke-store` instead.
 * https://docs.aws.amazon.com/xray/latest/devguide/xray-concepts.html#xray-concepts-tracingheader
 */
export function traceparentFromXRay(header: string | undefined): string | undefined {
  const part = (name: string) => new RegExp(`(?:^|;)\\s*${name}=([^;]*)`).exec(header ?? "")?.[1];
  const traceId = /^1-([\da-f]{8})-([\da-f]{24})$/.exec(part("Root") ?? "");
  const flags = part("Sampled") === "1" ? "01" : "00";
  return readTraceparent(traceId && `00-${traceId[1]}${traceId[2]}-${part("Parent")}-${flags}`);
}

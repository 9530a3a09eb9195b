// Invokes a function for a request, waiting at most as long as the gateway does. A function that the gateway no longer
// waits for keeps running, as it does on AWS.
import type { InvokeResult } from "../../lambda/invoke-result.ts";

export type InvokeFunction = (payload: string) => Promise<InvokeResult>;

export type GatewayInvocation = InvokeResult | { readonly outcome: "notWaitedFor" };

export async function invokeWithin(
  invoke: InvokeFunction,
  payload: string,
  timeoutMs: number,
): Promise<GatewayInvocation> {
  let timer: NodeJS.Timeout | undefined;
  const givenUp = new Promise<GatewayInvocation>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, { outcome: "notWaitedFor" });
  });
  try {
    return await Promise.race([invoke(payload), givenUp]);
  } finally {
    clearTimeout(timer);
  }
}

export function failureReason(
  result: Exclude<GatewayInvocation, { outcome: "ok" }>,
  timeoutMs: number,
): string {
  if (result.outcome === "notWaitedFor") return `no response within ${timeoutMs / 1000} seconds`;
  return `${result.outcome}: ${result.errorMessage}`;
}

// An asynchronous invocation: a failure is tried twice more under the same request id, after one and two minutes.
// https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html
import { randomUUID } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import type { FunctionHost } from "../lambda/function-host.ts";

export interface AsynchronousInvocation {
  readonly host: FunctionHost;
  readonly payload: string;
  readonly label: string;
  readonly clock: Clock;
  readonly log: (line: string) => void;
  /** Ends the retries. */
  readonly signal: AbortSignal;
  /** @default a new one */
  readonly requestId?: string | undefined;
}

const RETRY_AFTER_MS = [60_000, 120_000];

/** Resolves after the first attempt; the others follow on the clock. Never rejects. */
export async function invokeAsynchronously(invocation: AsynchronousInvocation): Promise<void> {
  const { requestId = randomUUID() } = invocation;
  if (await succeeds(invocation, requestId, RETRY_AFTER_MS[0])) return;
  void retry(invocation, requestId);
}

async function retry(invocation: AsynchronousInvocation, requestId: string): Promise<void> {
  for (const [index, delayMs] of RETRY_AFTER_MS.entries()) {
    await invocation.clock.sleep(delayMs, invocation.signal);
    if (invocation.signal.aborted) return;
    if (await succeeds(invocation, requestId, RETRY_AFTER_MS[index + 1])) return;
  }
}

async function succeeds(
  { host, payload, label, clock, log, signal }: AsynchronousInvocation,
  requestId: string,
  nextDelayMs: number | undefined,
): Promise<boolean> {
  const startedAtMs = clock.now();
  const result = await host.invoke(payload, { requestId }).catch((error: unknown) => String(error));
  if (signal.aborted) return true;
  if (typeof result !== "string" && result.outcome === "ok") {
    log(`${label}: ok ${clock.now() - startedAtMs} ms`);
    return true;
  }
  const reason = typeof result === "string" ? result : `${result.outcome}: ${result.errorMessage}`;
  const then = nextDelayMs === undefined ? "given up" : `tried again in ${nextDelayMs / 1000} s`;
  log(`${label}: ${reason}; ${then}`);
  return false;
}

// An asynchronous invocation: a failure is tried twice more under the same request id, after one and two minutes.
// https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html
import { randomUUID } from "node:crypto";
import type { Clock } from "onceonly/kit";
import type { FunctionHost } from "../lambda/function-host.ts";
import type { InvokeResult } from "../lambda/invoke-result.ts";

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
  /** 0, 1 or 2. @default 2 */
  readonly retries?: number | undefined;
  /** An event that is older is not tried again. @default 21600, 6 hours */
  readonly maxAgeSeconds?: number | undefined;
  /** Called with the end result, whatever it is. Never rejects. @default - not called */
  readonly onEnd?: ((ended: EndedInvocation) => Promise<void>) | undefined;
}

export interface EndedInvocation {
  readonly requestId: string;
  readonly payload: string;
  readonly attempts: number;
  readonly condition: "Success" | "RetriesExhausted" | "EventAgeExceeded";
  /** The last attempt's result; `undefined` if the function could not be started. */
  readonly result: InvokeResult | undefined;
}

const RETRY_AFTER_MS = [60_000, 120_000];
const MAX_AGE_SECONDS = 21_600;

/** Resolves after the first attempt; the others follow on the clock. Never rejects. */
export async function invokeAsynchronously(invocation: AsynchronousInvocation): Promise<void> {
  const { clock, signal, requestId = randomUUID(), maxAgeSeconds = MAX_AGE_SECONDS } = invocation;
  const delays = RETRY_AFTER_MS.slice(0, invocation.retries);
  const endsAtMs = clock.now() + maxAgeSeconds * 1000;
  let attempts = 0;

  async function attempt(): Promise<void> {
    const delayMs = delays[attempts];
    attempts++;
    const startedAtMs = clock.now();
    const answer = await invocation.host
      .invoke(invocation.payload, { requestId })
      .catch((error: unknown) => String(error));
    if (signal.aborted) return;
    const result = typeof answer === "string" ? undefined : answer;
    const isTooOld = delayMs !== undefined && clock.now() + delayMs > endsAtMs;
    const end = (condition: EndedInvocation["condition"]) =>
      invocation.onEnd?.({ requestId, payload: invocation.payload, attempts, condition, result });
    if (result?.outcome === "ok") {
      invocation.log(`${invocation.label}: ok ${clock.now() - startedAtMs} ms`);
      return end("Success");
    }
    const isLast = delayMs === undefined || isTooOld;
    const then = isLast ? "gave up" : `retrying in ${delayMs / 1000} s`;
    const reason = result ? `${result.outcome}: ${result.errorMessage}` : String(answer);
    invocation.log(`${invocation.label}: ${reason}; ${then}`);
    if (isLast) return end(isTooOld ? "EventAgeExceeded" : "RetriesExhausted");
    void clock.sleep(delayMs, signal).then(() => (signal.aborted ? undefined : attempt()));
  }

  await attempt();
}

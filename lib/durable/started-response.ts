/** Responses to HTTP requests that start executions. */
import { pause, remainingMsOf } from "../core/clock.ts";
import type { LambdaContext } from "../core/lambda-context.ts";
import { synchronous } from "../core/unawaited.ts";
import { readHttpEvent } from "../lambda/http/event.ts";
import { problemFor, READING_STATUSES } from "../lambda/http/problem.ts";
import { type HttpResponse, withHeader } from "../lambda/http/response.ts";
import { findExecution } from "./start-execution.ts";
import type { DurableExecutionDescription, StartedExecution, StartSettings } from "./start-options.ts";

const STATUSES = { ...READING_STATUSES, FINGERPRINT_MISMATCH: 422 };

/** So that there is time to answer. */
const MARGIN_MS = 1000;

/**
 * 202, or 200 with the execution's result if it ends while the request waits.
 * @throws errors that aren't about the request
 */
export async function respondTo(
  event: unknown,
  context: LambdaContext,
  settings: StartSettings,
  start: () => Promise<StartedExecution>,
): Promise<HttpResponse> {
  const http = readHttpEvent(event);
  try {
    const execution = await start();
    const ended =
      settings.waitSeconds > 0 ? await endOf(execution, settings, context, http.gatewayEndsAt) : undefined;
    const { Status = "RUNNING", Result } = ended ?? {};
    const isDone = Status === "SUCCEEDED";
    const statusCode = isDone ? 200 : Status === "RUNNING" ? 202 : 500;
    const body = isDone ? (Result ?? "null") : JSON.stringify({ execution: execution.name, status: Status });
    const response = withHeader(
      http,
      { statusCode, body, isBase64Encoded: false },
      "Content-Type",
      "application/json",
    );
    return settings.address
      ? withHeader(
          http,
          response,
          "Location",
          synchronous("address", settings.address(execution), "the address"),
        )
      : response;
  } catch (error) {
    return problemFor(error, STATUSES, http, settings.operation);
  }
}

/** Waits as long as caller, gateway and invocation can. `undefined` if the execution still runs then. */
async function endOf(
  { name, arn }: StartedExecution,
  settings: StartSettings,
  context: LambdaContext,
  gatewayEndsAt: number,
): Promise<DurableExecutionDescription | undefined> {
  const { client, clock, waitSeconds } = settings;
  const startedAt = clock.now();
  const invocationEndsAt = startedAt + (remainingMsOf(context) ?? Number.POSITIVE_INFINITY) - MARGIN_MS;
  const until = Math.min(startedAt + waitSeconds * 1000, gatewayEndsAt, invocationEndsAt);
  const DurableExecutionArn = arn ?? (await findExecution(settings, name));
  if (DurableExecutionArn === undefined) return undefined;
  for (let pauseMs = 200; ; pauseMs = Math.min(pauseMs * 2, 2000)) {
    const execution = await client.getDurableExecution({ DurableExecutionArn });
    if (execution.Status !== "RUNNING") return execution;
    if (clock.now() + pauseMs >= until) return undefined;
    await pause(settings, pauseMs);
  }
}

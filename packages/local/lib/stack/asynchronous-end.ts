// Reports the end of an asynchronous invocation: a destination gets a record of it, and a dead-letter queue
// the event itself.
// https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-retain-records.html
import type { EndedInvocation } from "../schedules/invoke-asynchronously.ts";
import { type LocalEnvironment, type LocalFunction, pathOf } from "./local-environment.ts";
import { targetOf } from "./resources/local-target.ts";

/** Never rejects: errors are logged. */
export async function tellEnd(
  environment: LocalEnvironment,
  fn: LocalFunction,
  ended: EndedInvocation,
): Promise<void> {
  const path = pathOf(environment.functions, fn);
  const { onSuccess, onFailure, deadLetters } = environment.asynchronous.get(fn.name) ?? {};
  const isSuccess = ended.condition === "Success";
  const destination = isSuccess ? onSuccess : onFailure;
  const record = destination === undefined ? "" : JSON.stringify(recordOf(environment, fn, ended));
  if (destination?.split(":")[2] === "events") {
    const DetailType = `Lambda Function Invocation Result - ${isSuccess ? "Success" : "Failure"}`;
    const entry = { EventBusName: destination, Source: "lambda", DetailType, Detail: record };
    await environment.eventBridge.call("PutEvents", { Entries: [entry] });
  } else if (destination !== undefined) await send(environment, destination, record, path);
  if (deadLetters !== undefined && !isSuccess) await send(environment, deadLetters, ended.payload, path);
}

async function send(environment: LocalEnvironment, Arn: string, text: string, path: string): Promise<void> {
  const target = targetOf({ Arn }, { environment, path });
  if ("problem" in target) environment.log(`${path}: ${target.problem}`);
  else await target.deliver(text);
}

function recordOf({ clock }: LocalEnvironment, fn: LocalFunction, ended: EndedInvocation): object {
  const { requestId, condition, attempts, payload, result } = ended;
  const failed = result !== undefined && result.outcome !== "ok";
  return {
    version: "1.0",
    timestamp: new Date(clock.now()).toISOString(),
    requestContext: {
      requestId,
      functionArn: `${fn.arn}:$LATEST`,
      condition,
      approximateInvokeCount: attempts,
    },
    requestPayload: parsed(payload),
    responseContext: {
      statusCode: 200,
      executedVersion: "$LATEST",
      ...(failed && { functionError: "Unhandled" }),
    },
    responsePayload: result === undefined ? null : parsed(result.payload),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

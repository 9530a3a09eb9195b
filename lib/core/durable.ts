/** Lambda's durable executions call a handler again after each suspension, so a plain wrapper's claim can't cover it. */
import { PROJECT_URL } from "../contract.ts";
import { InvalidOptionError } from "./errors.ts";

const ADVICE = `use \`idempotentDurable\` or \`onceStep\` of onceonly/durable, see ${PROJECT_URL}/blob/main/docs/guides/durable.md`;

/**
 * Returned by the SDK's handler when its execution is suspended: a later call goes on. In the form in which it would be
 * recorded.
 */
export const SUSPENDED = '{"Status":"PENDING"}';
export const SUSPENDED_FAULT = `the result { Status: "PENDING" } means that a durable execution is suspended: ${ADVICE}`;

/** SDK 2.4 brands its contexts; the members are those of every version. */
const BRAND = Symbol.for("@aws/durable-execution-sdk-js/durable-context");

export function isDurableContext(context: unknown): boolean {
  const { step, runInChildContext, executionContext } = Object(context) as Record<string, unknown>;
  if (BRAND in Object(context)) return true;
  const { durableExecutionArn } = Object(executionContext) as Record<string, unknown>;
  return (
    typeof durableExecutionArn === "string" ||
    (typeof step === "function" && typeof runInChildContext === "function")
  );
}

/** The event with which Lambda invokes the SDK's handler. */
function isDurableEvent(event: unknown): boolean {
  const { DurableExecutionArn, CheckpointToken } = Object(event) as Record<string, unknown>;
  return isText(DurableExecutionArn) && isText(CheckpointToken);
}

const isText = (value: unknown) => typeof value === "string" && value !== "";

/**
 * The second invocation of an execution would meet the claim of the first one, or replay "suspended".
 * @param what names the function that would run once
 * @throws InvalidOptionError (`INVALID_OPTION`) in a durable execution
 */
export function refuseDurable(what: "handler" | "fn", event: unknown, context?: unknown): void {
  if (!isDurableEvent(event) && !isDurableContext(context)) return;
  throw new InvalidOptionError(what, `can't run once as a whole in a durable execution: ${ADVICE}`);
}

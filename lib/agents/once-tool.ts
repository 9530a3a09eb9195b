/** The engine for the tools of agents, which lose results, plan again in other words, and reconnect. */
import { types } from "node:util";
import { HELD_RETRY_SECONDS } from "../contract.ts";
import { perform } from "../core/engine.ts";
import { hasCode } from "../core/error-code.ts";
import {
  type ExecutionInProgressError,
  InvalidOptionError,
  OutcomeUnknownError,
  StoreUnavailableError,
} from "../core/errors.ts";
import type { Execution } from "../core/execution.ts";
import { isPermanent } from "../core/outcome.ts";
import { engineOptionsOf, isFailed, type OnceToolOptions } from "./options.ts";
import { readToolCall, signalsOf } from "./tool-call.ts";
import { forgottenNotice, markReplayed, pendingNotice, type ToolNotice } from "./tool-notice.ts";

/**
 * Wraps the function of a tool, so that it takes effect once per operation, scope and key. Register what it returns with your
 * toolkit: as the callback of MCP's `registerTool`, as `execute` in `tool()` of the AI SDK or the OpenAI Agents SDK, or as the
 * function of LangChain's `tool()`. The tool gets its arguments, an `Execution`, and then what the toolkit passes beside the
 * arguments. A tool of MCP needs an `inputSchema`, even an empty one.
 *
 * The key is `idempotencyKey` in MCP's `_meta`, else the argument of that name, else a hash of the plan's id and the arguments
 * in `intent`. So a call whose other arguments differ is the same call, and is answered with the first one's result: its text
 * says so, because agents don't see headers. A call whose outcome isn't known is answered with a `ToolNotice`, which says when
 * to ask again.
 *
 * Throws errors that the toolkits show to the agent. A tool that fails after its caller has cancelled counts as unknown.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately. Calls reject with IdempotencyKeyMissingError
 * (`IDEMPOTENCY_KEY_MISSING`) if there is neither key nor plan, IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`),
 * ScopeMissingError (`SCOPE_MISSING`), PayloadInvalidError (`PAYLOAD_INVALID`), FingerprintMismatchError
 * (`FINGERPRINT_MISMATCH`), StoreUnavailableError (`STORE_UNAVAILABLE`) and the errors of the tool.
 */
export function onceTool<Args extends object, Context extends readonly unknown[], Result, Write = unknown>(
  tool: (args: Args, execution: Execution<Write>, ...context: Context) => Result | Promise<Result>,
  options: OnceToolOptions<Args, Context, Write>,
): (args: Args, ...context: Context) => Promise<Result | ToolNotice> {
  checkTool(tool);
  const engineOptions = engineOptionsOf(options);
  const hasSchema = options.outputSchema !== undefined;

  return async function idempotentTool(args, ...context) {
    const signals = signalsOf(context);
    for (const signal of signals) signal.throwIfAborted();
    const call = readToolCall(options, engineOptions, args, context);
    const { key } = call.identity;
    const wasCancelled = () => signals.some(({ aborted }) => aborted);

    async function work(execution: Execution<Write>): Promise<Result> {
      try {
        const result = await tool(args, execution, ...context);
        if (!isFailed(result) || !wasCancelled()) return result;
      } catch (error) {
        // The effect may have happened: a request that was cancelled may have arrived.
        throw wasCancelled() && !isPermanent(error) ? new OutcomeUnknownError(error) : error;
      }
      throw new OutcomeUnknownError();
    }

    try {
      const { failure, replayed, result } = await perform(engineOptions, call, work);
      if (failure) throw failure.error;
      return (replayed ? markReplayed(result, key) : result) as Result;
    } catch (error) {
      return answerInstead(error, key);
    }
  };

  /** @throws an error whose message is for the agent. */
  function answerInstead(error: unknown, id: string): ToolNotice {
    const pending = (why: string, seconds: number) => pendingNotice(why, id, seconds, hasSchema);
    if (hasCode(error, "EXECUTION_IN_PROGRESS")) {
      return pending("it is still running", (error as ExecutionInProgressError).retryAfterSeconds);
    }
    if (hasCode(error, "CLAIM_LOST")) return pending("another call of it is running", 1);
    if (hasCode(error, "OUTCOME_UNKNOWN")) {
      return pending("it isn't known yet whether an earlier call took effect", HELD_RETRY_SECONDS);
    }
    if (hasCode(error, "RESULT_NOT_KEPT")) return forgottenNotice(id, hasSchema);
    if (hasCode(error, "FINGERPRINT_MISMATCH"))
      throw Object.assign(error, { message: mismatchText(options) });
    if (hasCode(error, "STORE_UNAVAILABLE")) {
      // The store's own text names tables and accounts.
      const { failure } = error as StoreUnavailableError;
      throw new StoreUnavailableError(failure, error, "call this tool again with the same arguments");
    }
    throw error;
  }
}

/** @throws InvalidOptionError (`INVALID_OPTION`) */
function checkTool(tool: unknown): void {
  if (typeof tool !== "function") {
    throw new InvalidOptionError("tool", "must be the function of the tool: put `onceTool` around it", tool);
  }
  if (types.isGeneratorFunction(tool)) {
    throw new InvalidOptionError(
      "tool",
      "is a generator, whose results can't be recorded: return one result",
    );
  }
}

/** An agent that reads "use a new key" does so at once, and the effect happens twice. */
function mismatchText({ intent }: { readonly intent: unknown }): string {
  const names = Array.isArray(intent) ? intent.join(", ") : "its arguments";
  return `this idempotencyKey belongs to an earlier call with other values of ${names}, which may have taken effect. To get its result, call with the same values. Only for an additional effect use a new idempotencyKey`;
}

// Runs one function as Lambda does: execution environments are started as concurrent invocations need them and
// kept for the next ones. The host doesn't care what the function does in its process.
import { randomUUID } from "node:crypto";
import { ExecutionEnvironment, type InvocationRequest } from "./execution-environment.ts";
import { type FunctionDefinition, limitsOf } from "./function-definition.ts";
import { crashed, type InvokeResult } from "./invoke-result.ts";
import type { LogLine } from "./runtime-process.ts";
import { createSlots } from "./slots.ts";
import { createTaskRoot, type TaskRoot } from "./task-root.ts";

export interface FunctionHostOptions extends FunctionDefinition {
  /** Gets each line that a process of the function writes. */
  readonly log?: ((line: LogLine) => void) | undefined;
  /**
   * Further concurrent invocations wait for their turn; on Lambda they would run or be throttled.
   * @default 16
   */
  readonly maxConcurrency?: number | undefined;
}

export interface InvokeExtras {
  /** Lambda's own retries of an asynchronous invocation keep it. @default a new one */
  readonly requestId?: string | undefined;
}

export interface FunctionHost {
  /** Every end of the function's process is a result; rejects only if its code cannot be read, or after `stop`. */
  invoke(payload: string, extras?: InvokeExtras): Promise<InvokeResult>;
  /**
   * SIGKILLs the process that runs this invocation, or any one that runs an invocation.
   * @returns the request id of the invocation that was killed, `undefined` if none was running
   */
  kill(requestId?: string): string | undefined;
  /** Ends all processes and removes their folder; invocations that run come out as crashed. */
  stop(): Promise<void>;
}

export interface SingleHost extends FunctionHost {
  /** Resolves when no invocation runs. */
  finished(): Promise<void>;
}

/** https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html#runtimes-lifecycle-ib */
const INIT_LIMIT_MS = 10_000;
const DEFAULT_MAX_CONCURRENCY = 16;

/** Nothing is started before the first invocation. */
export function createFunctionHost(options: FunctionHostOptions): SingleHost {
  const environments = new Set<ExecutionEnvironment>();
  const slots = createSlots(options.maxConcurrency ?? DEFAULT_MAX_CONCURRENCY);
  const running = new Set<Promise<InvokeResult>>();
  let taskRoot: Promise<TaskRoot> | undefined;
  let stopped = false;

  async function startWith(request: InvocationRequest, initLimitMs: number) {
    taskRoot ??= createTaskRoot(options.name, options.codeDirectory);
    const { path } = await taskRoot;
    const environment = await ExecutionEnvironment.start(options, path, initLimitMs, options.log);
    environments.add(environment);
    void environment.exited.then(() => environments.delete(environment));
    if (stopped) environment.kill();
    // Assigned before it is initialized, so no other invocation grabs the environment in between.
    const result = environment.invoke(request);
    return { result, init: await environment.initialized };
  }

  /** Lambda tries a failed initialization once more, and that on the time of the invocation that waits. */
  async function runInNewEnvironment(request: InvocationRequest): Promise<InvokeResult | undefined> {
    const first = await startWith(request, INIT_LIMIT_MS);
    if (first.init.status === "ready" || stopped) return first.result;
    const { timeoutMs } = limitsOf(options);
    const second = await startWith({ ...request, deadlineMs: Date.now() + timeoutMs }, timeoutMs);
    return second.init.status === "ready" ? second.result : second.init.resultFor(request.requestId);
  }

  async function runOnce(request: InvocationRequest): Promise<InvokeResult> {
    while (!stopped) {
      const warm = [...environments].find((environment) => environment.available);
      const result = await (warm ? warm.invoke(request) : runInNewEnvironment(request));
      if (result) return result;
    }
    return crashed(request.requestId, "the function was stopped");
  }

  return {
    async invoke(payload, extras = {}) {
      if (stopped) throw new Error(`function ${options.name} is stopped: create a new host to invoke it`);
      const requestId = extras.requestId ?? randomUUID();
      const result = slots.run(() => runOnce({ requestId, payload }));
      running.add(result);
      try {
        return await result;
      } finally {
        running.delete(result);
      }
    },
    kill(requestId) {
      for (const environment of environments) {
        const { runningRequestId } = environment;
        if (runningRequestId === undefined || (requestId ?? runningRequestId) !== runningRequestId) continue;
        environment.kill();
        return runningRequestId;
      }
      return undefined;
    },
    async finished() {
      while (running.size > 0) await Promise.allSettled(running);
    },
    async stop() {
      stopped = true;
      for (const environment of environments) environment.kill();
      await Promise.allSettled(running);
      await Promise.all([...environments].map((environment) => environment.exited));
      await taskRoot?.then(
        (root) => root.remove(),
        () => undefined,
      );
    },
  };
}

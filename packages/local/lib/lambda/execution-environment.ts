// One execution environment: a function's process with its own Runtime API. It is initialized once, handles
// one invocation at a time, is frozen in between, and is killed when an invocation reaches its deadline.
// https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { type FunctionDefinition, functionArn, limitsOf, processEnvironment } from "./function-definition.ts";
import {
  answered,
  crashed,
  exitReason,
  type InvokeResult,
  reportedError,
  timedOut,
} from "./invoke-result.ts";
import { type RuntimeApi, startRuntimeApi } from "./runtime-api.ts";
import { freeze, killProcess, type LogLine, startRuntimeProcess, thaw } from "./runtime-process.ts";

export interface InvocationRequest {
  readonly requestId: string;
  /** The event, as JSON. */
  readonly payload: string;
  /** @default the function's timeout, counted from when the function gets the invocation */
  readonly deadlineMs?: number | undefined;
}

export type InitResult =
  | { readonly status: "ready" }
  | { readonly status: "failed"; readonly resultFor: (requestId: string) => InvokeResult };

interface Assignment extends InvocationRequest {
  readonly settle: (result: InvokeResult | undefined) => void;
  delivered: boolean;
}

export class ExecutionEnvironment {
  /** Settles when the function is loaded, or cannot be; a failed environment is gone. */
  readonly initialized: Promise<InitResult>;
  readonly exited: Promise<void>;
  readonly #definition: FunctionDefinition;
  readonly #process: ChildProcess;
  readonly #api: RuntimeApi;
  #state: "starting" | "ready" | "gone" = "starting";
  #settleInit: (result: InitResult) => void = () => undefined;
  #assignment: Assignment | undefined;
  #waitsForNext = false;
  #ended = false;
  #deadline: NodeJS.Timeout | undefined;

  /** @param initLimitMs how long loading the function may last */
  static async start(
    definition: FunctionDefinition,
    taskRoot: string,
    initLimitMs: number,
    log?: (line: LogLine) => void,
  ): Promise<ExecutionEnvironment> {
    const api = await startRuntimeApi({
      onNext: () => environment.#functionAsksForNext(),
      onResponse: (requestId, payload) => environment.#settle(requestId, answered(requestId, payload)),
      onError: (requestId, payload) => environment.#settle(requestId, reportedError(requestId, payload)),
      onInitError: (payload) => environment.#initFailed((requestId) => reportedError(requestId, payload)),
    });
    const child = startRuntimeProcess({
      functionName: definition.name,
      environment: processEnvironment(definition, {
        taskRoot,
        runtimeApi: api.address,
        logStream: randomUUID(),
      }),
      taskRoot,
      memoryMb: limitsOf(definition).memoryMb,
      log,
    });
    const environment = new ExecutionEnvironment(definition, child, api, initLimitMs);
    return environment;
  }

  private constructor(
    definition: FunctionDefinition,
    child: ChildProcess,
    api: RuntimeApi,
    initLimitMs: number,
  ) {
    this.#definition = definition;
    this.#process = child;
    this.#api = api;
    this.initialized = new Promise((resolve) => {
      this.#settleInit = resolve;
    });
    const limit = setTimeout(
      () => this.#initFailed((requestId) => timedOut(requestId, initLimitMs)),
      initLimitMs,
    );
    void this.initialized.then(() => clearTimeout(limit));
    this.exited = new Promise((resolve) => {
      child.once("error", (error) => resolve(this.#processEnded(error.message)));
      child.once("exit", (code, signal) => resolve(this.#processEnded(exitReason(code, signal))));
    });
  }

  /** Whether it can get an invocation; it may still be finishing work that the previous one left running. */
  get available(): boolean {
    return this.#state === "ready" && this.#assignment === undefined;
  }

  /** The request id of the invocation that runs now. */
  get runningRequestId(): string | undefined {
    return this.#assignment?.delivered ? this.#assignment.requestId : undefined;
  }

  /**
   * Only once while it is starting, and then only while available.
   * Resolves to nothing if the process ended before it got the invocation.
   */
  invoke(request: InvocationRequest): Promise<InvokeResult | undefined> {
    return new Promise((settle) => {
      if (this.#ended) return settle(undefined);
      this.#assignment = { ...request, settle, delivered: false };
      if (this.#waitsForNext) this.#deliver(this.#assignment);
    });
  }

  kill(): void {
    // Late messages from the dying process must not make it look free.
    if (this.#state === "ready") this.#state = "gone";
    killProcess(this.#process);
  }

  #functionAsksForNext(): void {
    clearTimeout(this.#deadline);
    this.#waitsForNext = true;
    if (this.#state === "starting") {
      this.#state = "ready";
      this.#settleInit({ status: "ready" });
    }
    if (this.#assignment) this.#deliver(this.#assignment);
    else freeze(this.#process);
  }

  #deliver(assignment: Assignment): void {
    const { timeoutMs } = limitsOf(this.#definition);
    const deadlineMs = assignment.deadlineMs ?? Date.now() + timeoutMs;
    assignment.delivered = true;
    this.#waitsForNext = false;
    // The time runs on after the answer until the function asks for the next invocation, as on Lambda.
    this.#deadline = setTimeout(() => {
      this.#state = "gone";
      this.#settle(assignment.requestId, timedOut(assignment.requestId, timeoutMs));
      this.kill();
    }, deadlineMs - Date.now());
    thaw(this.#process);
    this.#api.deliver({ ...assignment, deadlineMs, functionArn: functionArn(this.#definition) });
  }

  #settle(requestId: string, result: InvokeResult): void {
    if (this.#assignment?.requestId !== requestId || !this.#assignment.delivered) return;
    const { settle } = this.#assignment;
    this.#assignment = undefined;
    settle(result);
  }

  #initFailed(resultFor: (requestId: string) => InvokeResult): void {
    if (this.#state !== "starting") return;
    this.#state = "gone";
    this.#settleInit({ status: "failed", resultFor });
    this.kill();
  }

  async #processEnded(reason: string): Promise<void> {
    await this.#api.drained();
    this.#api.close();
    clearTimeout(this.#deadline);
    this.#initFailed((requestId) => crashed(requestId, reason));
    this.#state = "gone";
    this.#ended = true;
    const assignment = this.#assignment;
    this.#assignment = undefined;
    assignment?.settle(assignment.delivered ? crashed(assignment.requestId, reason) : undefined);
  }
}

// Lambda's side of durable executions, in memory, behind the SDK's own client interface: it starts executions by name, keeps their
// checkpoints, calls the handler, and kills an invocation at any point. Waits take no time, but each is a new invocation.
import type {
  CheckpointDurableExecutionRequest,
  CheckpointDurableExecutionResponse,
  DurableExecutionClient,
  DurableExecutionConfig,
  DurableExecutionHandler,
  DurableExecutionInvocationOutput,
  GetDurableExecutionStateResponse,
  OperationUpdate,
  WireOperation,
} from "@aws/durable-execution-sdk-js";
import {
  DurableExecutionInvocationInputWithClient,
  withDurableExecution,
} from "@aws/durable-execution-sdk-js";
import type { FakeClock } from "../../lib/testing/index.ts";
import { fakeLambdaContext } from "../../lib/testing/index.ts";

type Status = "RUNNING" | "SUCCEEDED" | "FAILED" | "STOPPED" | "TIMED_OUT";

interface DurableExecution {
  readonly arn: string;
  readonly name: string;
  readonly payload: string;
  readonly operations: Map<string, WireOperation>;
  status: Status;
  result?: string | undefined;
  error?: string | undefined;
  invocations: number;
  /** Checkpoints of an earlier invocation are refused. */
  token: string;
}

/** How an invocation ended. */
type End = "PENDING" | "SUCCEEDED" | "FAILED" | "error" | "crash";

const MAX_INVOCATIONS = 60;
const FUNCTION_ARN = "arn:aws:lambda:eu-central-1:111122223333:function:fulfil:1";

export class DurableService implements DurableExecutionClient {
  readonly clock: FakeClock;
  readonly executions = new Map<string, DurableExecution>();
  /** The points at which an invocation could be killed, in order: each checkpoint and each effect or request that calls `reach`. */
  readonly points: string[] = [];
  /** The numbers of the points at which the invocation is killed. */
  readonly kills: Set<number>;
  /** How long an invocation may run. */
  invocationMs = 900_000;
  /** A wait lasts until the test lets it end. */
  holdsWaits = false;
  #kill: (() => void) | undefined;
  #invocation = 0;

  constructor(clock: FakeClock, kills: Iterable<number> = []) {
    this.clock = clock;
    this.kills = new Set(kills);
  }

  /** A durable function, as it's deployed. */
  deploy<Event, Result>(
    handler: DurableExecutionHandler<Event, Result>,
    config: DurableExecutionConfig = {},
  ) {
    return withDurableExecution(handler, { ...config, durableExecutionClient: this });
  }

  /** Starts an execution, or returns the one of that name: Lambda refuses the name with another payload. */
  start(payload: unknown, name = `unnamed-${this.executions.size}`): DurableExecution {
    const text = JSON.stringify(payload);
    const arn = `${FUNCTION_ARN}/durable-execution/${name}/7d2f`;
    const known = this.executions.get(arn);
    if (known && known.payload !== text) {
      throw Object.assign(new Error("another payload"), { name: "DurableExecutionAlreadyStartedException" });
    }
    if (known) return known;
    const StartTimestamp = new Date();
    const operation = { Id: "execution", Type: "EXECUTION", Status: "STARTED", StartTimestamp } as const;
    const first = { ...operation, ExecutionDetails: { InputPayload: text } } as unknown as WireOperation;
    const execution: DurableExecution = {
      ...{ arn, name, payload: text, operations: new Map([["execution", first]]) },
      ...{ status: "RUNNING", invocations: 0, token: "" },
    };
    this.executions.set(arn, execution);
    return execution;
  }

  /** Calls the handler until the execution ends, or is suspended while `holdsWaits`. */
  async run(
    handler: ReturnType<typeof withDurableExecution>,
    execution: DurableExecution,
  ): Promise<DurableExecution> {
    while (execution.status === "RUNNING") {
      if (execution.invocations >= MAX_INVOCATIONS) throw new Error("the execution never ends");
      const end = await this.invoke(handler, execution);
      if (end === "PENDING") {
        if (this.holdsWaits) return execution;
        await this.endWaits(execution);
      }
    }
    return execution;
  }

  /** One invocation. */
  async invoke(handler: ReturnType<typeof withDurableExecution>, execution: DurableExecution): Promise<End> {
    execution.invocations++;
    execution.token = `token-${++this.#invocation}`;
    const input = {
      DurableExecutionArn: execution.arn,
      CheckpointToken: execution.token,
      InitialExecutionState: { Operations: [...execution.operations.values()], NextMarker: "" },
    };
    // A handler that makes its own client, such as in Middy's durable mode, gets this one with its event.
    const event = new DurableExecutionInvocationInputWithClient(input, this);
    const context = fakeLambdaContext({ clock: this.clock, remainingMs: this.invocationMs });
    const killed = new Promise<"crash">((resolve) => {
      this.#kill = () => resolve("crash");
    });
    const invoked = handler(event as never, context as never).then(
      (output) => this.#end(execution, output),
      () => "error" as const,
    );
    return Promise.race([invoked, killed]);
  }

  #end(execution: DurableExecution, output: DurableExecutionInvocationOutput): End {
    const {
      Status,
      Result,
      Error: failure,
    } = output as {
      readonly Status: "PENDING" | "SUCCEEDED" | "FAILED";
      readonly Result?: string;
      readonly Error?: { readonly ErrorMessage?: string };
    };
    if (Status === "PENDING") return Status;
    execution.status = Status;
    execution.result = Result;
    execution.error = failure?.ErrorMessage;
    return Status;
  }

  /** The waits and the pauses before retries are over, callbacks are answered with `null`, and time has passed. */
  async endWaits(execution: DurableExecution): Promise<void> {
    let ms = 0;
    for (const operation of execution.operations.values()) {
      const { WaitDetails, StepDetails, CallbackDetails, Status } = operation;
      if (CallbackDetails && Status === "STARTED") {
        Object.assign(operation, {
          Status: "SUCCEEDED",
          CallbackDetails: { ...CallbackDetails, Result: "null" },
        });
      }
      const until = WaitDetails?.ScheduledEndTimestamp ?? StepDetails?.NextAttemptTimestamp;
      const isWaiting = (WaitDetails && Status === "STARTED") || (StepDetails && Status === "PENDING");
      if (!isWaiting) continue;
      ms = Math.max(ms, (until as Date).getTime() - Date.now());
      Object.assign(operation, { Status: WaitDetails ? "SUCCEEDED" : "READY" });
    }
    await this.clock.advance(ms);
  }

  /** A point at which the process can die. Never returns if it does. */
  async reach(point: string): Promise<void> {
    this.points.push(point);
    if (!this.kills.has(this.points.length - 1)) return;
    this.#kill?.();
    await new Promise<never>(() => {});
  }

  async checkpoint(request: CheckpointDurableExecutionRequest): Promise<CheckpointDurableExecutionResponse> {
    const { DurableExecutionArn, CheckpointToken, Updates = [] } = request;
    const execution = this.executions.get(DurableExecutionArn as string) as DurableExecution;
    const what = Updates.map(({ Action, Type, Name }) => `${Action} ${Type} ${Name}`).join(", ");
    await this.reach(`before checkpoint ${what}`);
    if (CheckpointToken !== execution.token) {
      const error = new Error("Invalid Checkpoint Token");
      throw Object.assign(error, {
        name: "InvalidParameterValueException",
        $metadata: { httpStatusCode: 400 },
      });
    }
    const changed = Updates.map((update) => apply(execution.operations, update));
    await this.reach(`after checkpoint ${what}`);
    return { CheckpointToken: execution.token, NewExecutionState: { Operations: changed } };
  }

  async getExecutionState(): Promise<GetDurableExecutionStateResponse> {
    return { Operations: [] };
  }

  /** The `Lambda` client's view. */
  readonly lambda = {
    asked: 0,
    getDurableExecution: async ({ DurableExecutionArn }: { readonly DurableExecutionArn: string }) => {
      this.lambda.asked++;
      const execution = this.executions.get(DurableExecutionArn);
      if (!execution) throw Object.assign(new Error("none"), { name: "ResourceNotFoundException" });
      return { Status: execution.status, Result: execution.result };
    },
  };
}

function apply(operations: Map<string, WireOperation>, update: OperationUpdate): WireOperation {
  const { Id, ParentId, Name, Type, SubType, Action, Payload, Error: failure } = update;
  const known = operations.get(Id as string);
  const operation = { ...known, Id, ParentId, Name, Type, SubType } as Record<string, unknown>;
  operation.StartTimestamp ??= new Date();
  const before = known?.StepDetails ?? {};
  const soon = (seconds = 0) => new Date(Date.now() + seconds * 1000);
  if (Type === "STEP") {
    const attempts = (before.Attempt ?? 0) + (Action === "RETRY" ? 1 : 0);
    operation.StepDetails = { ...before, Attempt: attempts, Result: Payload, Error: failure };
  }
  if (Action === "START") operation.Status = "STARTED";
  if (Action === "SUCCEED") operation.Status = "SUCCEEDED";
  if (Action === "FAIL") operation.Status = "FAILED";
  if (Action === "RETRY") {
    operation.Status = "PENDING";
    const NextAttemptTimestamp = soon(update.StepOptions?.NextAttemptDelaySeconds);
    Object.assign(operation.StepDetails as object, { NextAttemptTimestamp });
  }
  if (Type === "WAIT")
    operation.WaitDetails = { ScheduledEndTimestamp: soon(update.WaitOptions?.WaitSeconds) };
  if (Type === "CALLBACK") operation.CallbackDetails = { CallbackId: `callback ${Id}` };
  if (Type === "CONTEXT")
    operation.ContextDetails = { ...update.ContextOptions, Result: Payload, Error: failure };
  operations.set(Id as string, operation as unknown as WireOperation);
  return operation as unknown as WireOperation;
}

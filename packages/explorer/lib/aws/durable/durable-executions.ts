/** Lambda's side of durable executions in memory: starts them, keeps their checkpoints, and says when they may go on. */
import { applyUpdate, type DurableOperation, type OperationUpdate } from "./durable-operation.ts";

export type DurableStatus = "RUNNING" | "SUCCEEDED" | "FAILED" | "STOPPED" | "TIMED_OUT";

export interface DurableExecution {
  readonly arn: string;
  readonly name: string;
  /** JSON. */
  readonly payload: string;
  readonly operations: Map<string, DurableOperation>;
  status: DurableStatus;
  /** JSON. */
  result?: string | undefined;
  /** The message of its error. */
  error?: string | undefined;
  invocations: number;
  /** Checkpoints of an earlier invocation are refused. */
  token: string;
}

/** The event of an invocation, as the SDK's handler gets it. */
export interface DurableInvocationEvent {
  readonly DurableExecutionArn: string;
  readonly CheckpointToken: string;
  readonly InitialExecutionState: { readonly Operations: DurableOperation[]; readonly NextMarker: string };
}

/** The response of the SDK's handler. */
export interface DurableInvocationOutput {
  readonly Status: "PENDING" | "SUCCEEDED" | "FAILED";
  readonly Result?: string;
  readonly Error?: { readonly ErrorMessage?: string };
}

export interface CheckpointInput {
  readonly DurableExecutionArn?: string | undefined;
  readonly CheckpointToken?: string | undefined;
  readonly ClientToken?: string | undefined;
  readonly Updates?: readonly OperationUpdate[] | undefined;
}

/** A refusal, by the name of Lambda's error. */
export class DurableServiceError extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

export class DurableExecutions {
  readonly executions = new Map<string, DurableExecution>();
  readonly #now: () => number;
  readonly #functionArn: string;
  /** Requests that the client may repeat. */
  readonly #applied = new Set<string>();
  #invocations = 0;

  /** @param now epoch ms */
  constructor(now: () => number, functionArn: string) {
    this.#now = now;
    this.#functionArn = functionArn;
  }

  /** Starts an execution, or returns the one of that name: Lambda refuses the name with another payload. */
  start(payload: unknown, name = `unnamed-${this.executions.size}`): DurableExecution {
    const text = JSON.stringify(payload);
    const arn = `${this.#functionArn}/durable-execution/${name}/7d2f`;
    const known = this.executions.get(arn);
    if (known && known.payload !== text)
      throw new DurableServiceError("DurableExecutionAlreadyStartedException", "another payload");
    if (known) return known;
    const first: DurableOperation = {
      ...{ Id: "execution", Type: "EXECUTION", Status: "STARTED" },
      ...{ StartTimestamp: new Date(this.#now()), ExecutionDetails: { InputPayload: text } },
    };
    const operations = new Map([[first.Id, first]]);
    const execution: DurableExecution = {
      ...{ arn, name, payload: text, operations },
      ...{ status: "RUNNING", invocations: 0, token: "" },
    };
    this.executions.set(arn, execution);
    return execution;
  }

  /** The event of the next invocation. The one before can write nothing any more. */
  invocationOf(execution: DurableExecution): DurableInvocationEvent {
    execution.invocations++;
    execution.token = `token-${++this.#invocations}`;
    return {
      DurableExecutionArn: execution.arn,
      CheckpointToken: execution.token,
      InitialExecutionState: { Operations: [...execution.operations.values()], NextMarker: "" },
    };
  }

  end(execution: DurableExecution, { Status, Result, Error: failure }: DurableInvocationOutput): void {
    if (Status === "PENDING") return;
    execution.status = Status;
    execution.result = Result;
    execution.error = failure?.ErrorMessage;
  }

  /** @throws DurableServiceError */
  get(arn: string | undefined): DurableExecution {
    const execution = this.executions.get(arn ?? "");
    if (execution) return execution;
    throw new DurableServiceError("ResourceNotFoundException", "there is no such durable execution");
  }

  /**
   * Applies the updates, unless the client has sent them before. Returns the operations that have changed.
   * @throws DurableServiceError for the token of an earlier invocation
   */
  checkpoint({
    DurableExecutionArn,
    CheckpointToken,
    ClientToken,
    Updates = [],
  }: CheckpointInput): DurableOperation[] {
    const execution = this.get(DurableExecutionArn);
    const { token, operations, status } = execution;
    if (CheckpointToken !== token || status !== "RUNNING")
      throw new DurableServiceError("InvalidParameterValueException", "Invalid Checkpoint Token");
    const ended = this.endWaits(execution, this.#now());
    if (ClientToken !== undefined && this.#applied.has(ClientToken))
      return [...ended, ...Updates.flatMap(({ Id }) => operations.get(Id ?? "") ?? [])];
    if (ClientToken !== undefined) this.#applied.add(ClientToken);
    return [...ended, ...Updates.map((update) => applyUpdate(operations, update, this.#now()))];
  }

  /** When the next wait or pause ends (epoch ms); `undefined` if the execution waits for nothing but callbacks. */
  nextAt({ operations }: DurableExecution): number | undefined {
    const times = [...operations.values()].flatMap((operation) => endOfWait(operation) ?? []);
    return times.length > 0 ? Math.min(...times) : undefined;
  }

  /** Ends the waits, and the pauses before retries, that are over by then. Returns them. */
  endWaits({ operations }: DurableExecution, by: number): DurableOperation[] {
    const over = [...operations.values()].filter((operation) => {
      const end = endOfWait(operation);
      return end !== undefined && end <= by;
    });
    for (const operation of over) operation.Status = operation.WaitDetails ? "SUCCEEDED" : "READY";
    return over;
  }

  /** Answers each open callback. Returns them. */
  answerCallbacks({ operations }: DurableExecution, result: unknown = null): DurableOperation[] {
    const open = [...operations.values()].filter(
      ({ CallbackDetails, Status }) => CallbackDetails && Status === "STARTED",
    );
    for (const operation of open) {
      operation.Status = "SUCCEEDED";
      operation.CallbackDetails = { ...operation.CallbackDetails, Result: JSON.stringify(result) };
    }
    return open;
  }
}

/** Epoch ms; `undefined` for an operation that doesn't wait. */
function endOfWait({ WaitDetails, StepDetails, Status }: DurableOperation): number | undefined {
  if (WaitDetails && Status === "STARTED") return WaitDetails.ScheduledEndTimestamp.getTime();
  if (StepDetails && Status === "PENDING") return StepDetails.NextAttemptTimestamp?.getTime();
  return undefined;
}

/** An operation of a durable execution, as Lambda keeps it, and the changes that a checkpoint makes to it. */

type ErrorObject = Readonly<Record<string, unknown>>;

export interface DurableOperation {
  Id: string;
  Type: string;
  Status: string;
  StartTimestamp: Date;
  ParentId?: string | undefined;
  Name?: string | undefined;
  SubType?: string | undefined;
  ExecutionDetails?: { InputPayload: string };
  StepDetails?: {
    Attempt?: number;
    NextAttemptTimestamp?: Date;
    Result?: string | undefined;
    Error?: ErrorObject | undefined;
  };
  WaitDetails?: { ScheduledEndTimestamp: Date };
  CallbackDetails?: { CallbackId?: string; Result?: string };
  ContextDetails?: { ReplayChildren?: boolean; Result?: string | undefined; Error?: ErrorObject | undefined };
}

/** A change that a checkpoint makes. https://docs.aws.amazon.com/lambda/latest/api/API_OperationUpdate.html */
export interface OperationUpdate {
  readonly Id?: string | undefined;
  readonly ParentId?: string | undefined;
  readonly Name?: string | undefined;
  readonly Type?: string | undefined;
  readonly SubType?: string | undefined;
  readonly Action?: string | undefined;
  readonly Payload?: string | undefined;
  readonly Error?: object | undefined;
  readonly ContextOptions?: { readonly ReplayChildren?: boolean | undefined } | undefined;
  readonly StepOptions?: { readonly NextAttemptDelaySeconds?: number | undefined } | undefined;
  readonly WaitOptions?: { readonly WaitSeconds?: number | undefined } | undefined;
}

const STATUSES: Readonly<Record<string, string>> = {
  START: "STARTED",
  SUCCEED: "SUCCEEDED",
  FAIL: "FAILED",
  RETRY: "PENDING",
  CANCEL: "CANCELLED",
};

/** @param now epoch ms */
export function applyUpdate(
  operations: Map<string, DurableOperation>,
  update: OperationUpdate,
  now: number,
): DurableOperation {
  const { Id = "", ParentId, Name, Type = "", SubType, Action = "", Payload: Result } = update;
  const known = operations.get(Id);
  const failure = update.Error as ErrorObject | undefined;
  const after = (seconds = 0) => new Date(now + seconds * 1000);
  const operation: DurableOperation = {
    ...{ StartTimestamp: new Date(now), ...known, Id, ParentId, Name, Type, SubType },
    Status: STATUSES[Action] ?? "",
  };
  if (Type === "STEP") {
    const { Attempt = 0 } = known?.StepDetails ?? {};
    const isRetry = Action === "RETRY";
    const NextAttemptTimestamp = after(update.StepOptions?.NextAttemptDelaySeconds);
    operation.StepDetails = {
      ...known?.StepDetails,
      ...{ Attempt: Attempt + (isRetry ? 1 : 0), Result, Error: failure },
      ...(isRetry && { NextAttemptTimestamp }),
    };
  }
  if (Type === "WAIT" && Action === "START")
    operation.WaitDetails = { ScheduledEndTimestamp: after(update.WaitOptions?.WaitSeconds) };
  if (Type === "CALLBACK") operation.CallbackDetails = { CallbackId: `callback ${Id}` };
  if (Type === "CONTEXT")
    operation.ContextDetails = { ...update.ContextOptions, Result, Error: failure } as never;
  operations.set(Id, operation);
  return operation;
}

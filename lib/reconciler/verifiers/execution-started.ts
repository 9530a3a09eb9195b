/** Asks Step Functions whether the abandoned attempt has started its execution. */
import { aFunction, checkOptions, methods, seconds } from "../../core/option-checks.ts";
import type { AbandonedAttempt, AbandonedRecord, Verify } from "../../core/verify.ts";
import { absent, DAY_SECONDS, isMissing, LAGS_SECONDS, remembers } from "./absence.ts";

/** The fields of an execution's description that report its status. */
export interface ExecutionDescription {
  readonly executionArn?: string | undefined;
  readonly status?: string | undefined;
  readonly output?: string | undefined;
}

/** The `SFN` client of `@aws-sdk/client-sfn`, any version 3. */
export interface StepFunctionsLike {
  describeExecution(
    input: { executionArn: string },
    options: { abortSignal: AbortSignal },
  ): Promise<ExecutionDescription>;
}

export interface ExecutionStartedOptions<
  Input = unknown,
  Previous extends AbandonedRecord = AbandonedAttempt<Input>,
> {
  readonly client: StepFunctionsLike;
  /** ARN of the execution, with the name that the handler gives it, such as `childKey("fulfil", { maxLength: 64 })`. */
  readonly executionArn: (previous: Previous) => string;
  /** The response that every caller gets. The execution may still be running, or have failed. */
  readonly result: (execution: ExecutionDescription, previous: Previous) => unknown;
  /**
   * How far the description may lag after the start, in seconds: it is eventually consistent.
   * @default 60
   */
  readonly lagsSeconds?: number;
  /**
   * How long after the key was first claimed an execution is still there, in seconds. Step Functions keeps a closed one for 90
   * days, or for as few as 30 if you had that quota lowered. After that, absence proves nothing, and an operator decides.
   * @default 7776000 (90 days)
   */
  readonly remembersSeconds?: number;
}

/**
 * A `whenAbandoned` for handlers whose effect is to start a standard workflow with a unique name. The role needs
 * `states:DescribeExecution`.
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately.
 */
export function executionStarted<Input = unknown, Previous extends AbandonedRecord = AbandonedAttempt<Input>>(
  options: ExecutionStartedOptions<Input, Previous>,
): Verify<Input, Previous> {
  checkOptions(
    options,
    {
      client: methods("describeExecution"),
      executionArn: aFunction,
      result: aFunction,
      lagsSeconds: seconds(0, 86_400),
      remembersSeconds: remembers,
    },
    ["client", "executionArn", "result"],
  );
  const { client, executionArn, result } = options;
  const { lagsSeconds = LAGS_SECONDS, remembersSeconds = 90 * DAY_SECONDS } = options;
  const asked = "DescribeExecution";
  return async function askForExecution(previous: Previous) {
    const input = { executionArn: executionArn(previous) };
    try {
      const execution = await client.describeExecution(input, { abortSignal: previous.signal });
      const evidence = { asked, answered: `${execution.status}` };
      return { outcome: "happened", result: await result(execution, previous), evidence };
    } catch (error) {
      if (!isMissing(error, "ExecutionDoesNotExist")) throw error;
      return absent(
        previous,
        { lagsSeconds, remembersSeconds },
        { asked, answered: "ExecutionDoesNotExist" },
      );
    }
  };
}

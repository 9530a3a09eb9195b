/** Asks Step Functions whether the abandoned attempt has started its execution. */
import { aFunction, checkOptions, methods, seconds } from "../../core/option-checks.ts";
import type { AbandonedAttempt, AbandonedRecord, Verify } from "../../core/verify.ts";
import { absent, DAY_SECONDS, isMissing, LAGS_SECONDS, remembers } from "./absence.ts";

/** The part of an execution's description that says how it goes. */
export interface ExecutionDescription {
  readonly executionArn?: string | undefined;
  readonly status?: string | undefined;
  readonly output?: string | undefined;
}

/** The `SFN` of `@aws-sdk/client-sfn`, of any version 3. */
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
  /** The ARN of the execution by the name that the handler gives it, such as `childKey("fulfil", { maxLength: 64 })`. */
  readonly executionArn: (previous: Previous) => string;
  /** The answer of every caller. The execution may still run, or have failed. */
  readonly result: (execution: ExecutionDescription, previous: Previous) => unknown;
  /**
   * How far the description may be behind the start, in seconds: it is eventually consistent.
   * @default 60
   */
  readonly lagsSeconds?: number;
  /**
   * For how long after the key was first claimed an execution is still there, in seconds. Step Functions keeps a closed one for 90 days,
   * or for as few as 30 if you had that quota lowered. Later its absence says nothing, and a person decides.
   * @default 7776000 (90 days)
   */
  readonly remembersSeconds?: number;
}

/**
 * A `whenAbandoned` for handlers whose effect is the start of a standard workflow under a name of its own. The role needs
 * `states:DescribeExecution`.
 * @throws InvalidOptionError (`INVALID_OPTION`) at once.
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
      return { outcome: "happened", result: result(execution, previous), evidence };
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

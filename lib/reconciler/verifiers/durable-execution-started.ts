/** Asks Lambda whether the abandoned attempt has started its durable execution. */
import { aFunction, checkOptions, methods, seconds, text } from "../../core/option-checks.ts";
import type { AbandonedAttempt, AbandonedRecord, Verify } from "../../core/verify.ts";
import { absent, DAY_SECONDS, LAGS_SECONDS, remembers } from "./absence.ts";

/** A durable execution as Lambda lists it. */
export interface DurableExecutionSummary {
  readonly DurableExecutionArn?: string | undefined;
  readonly DurableExecutionName?: string | undefined;
  readonly FunctionArn?: string | undefined;
  readonly Status?: string | undefined;
}

/** The `Lambda` client of `@aws-sdk/client-lambda`, in a version with durable executions. */
export interface DurableExecutionsLike {
  listDurableExecutionsByFunction(
    input: {
      FunctionName: string;
      Qualifier?: string | undefined;
      DurableExecutionName: string;
      Marker?: string | undefined;
    },
    options: { abortSignal: AbortSignal },
  ): Promise<{
    readonly DurableExecutions?: readonly DurableExecutionSummary[] | undefined;
    readonly NextMarker?: string | undefined;
  }>;
}

export interface DurableExecutionStartedOptions<
  Input = unknown,
  Previous extends AbandonedRecord = AbandonedAttempt<Input>,
> {
  readonly client: DurableExecutionsLike;
  /** Name or ARN of the durable function. `undefined`, for example from an unset environment variable, is refused. */
  readonly functionName: string | undefined;
  /**
   * Only looks at executions of one version or alias. Leave it out unless names repeat across versions: an abandoned attempt may
   * have started its execution on the version before a deployment.
   * @default - all versions
   */
  readonly qualifier?: string | undefined;
  /** The name that the handler gives the execution, such as `childKey("fulfil", { maxLength: 64 })`. */
  readonly name: (previous: Previous) => string;
  /** The response that every caller gets. The execution may still be running, or have failed. */
  readonly result: (execution: DurableExecutionSummary, previous: Previous) => unknown;
  /**
   * How far the list may lag after the start, in seconds.
   * @default 60
   */
  readonly lagsSeconds?: number;
  /**
   * How long after the key was first claimed an execution is still listed, in seconds: at most the function's
   * `RetentionPeriodInDays`. After that, absence proves nothing, and an operator decides.
   * @default 1209600 (14 days, as Lambda's own default)
   */
  readonly remembersSeconds?: number;
}

/**
 * A `whenAbandoned` for handlers whose effect is to start a Lambda durable execution with a unique name. The role needs
 * `lambda:ListDurableExecutionsByFunction`.
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately.
 */
export function durableExecutionStarted<
  Input = unknown,
  Previous extends AbandonedRecord = AbandonedAttempt<Input>,
>(options: DurableExecutionStartedOptions<Input, Previous>): Verify<Input, Previous> {
  checkOptions(
    options,
    {
      client: methods("listDurableExecutionsByFunction"),
      functionName: text(256),
      qualifier: text(128),
      name: aFunction,
      result: aFunction,
      lagsSeconds: seconds(0, 86_400),
      remembersSeconds: remembers,
    },
    ["client", "functionName", "name", "result"],
  );
  const { client, functionName, qualifier, name, result } = options;
  const { lagsSeconds = LAGS_SECONDS, remembersSeconds = 14 * DAY_SECONDS } = options;
  const asked = "ListDurableExecutionsByFunction";
  return async function askForDurableExecution(previous: Previous) {
    const DurableExecutionName = name(previous);
    const about = {
      FunctionName: functionName as string,
      Qualifier: qualifier,
      DurableExecutionName,
    };
    const options = { abortSignal: previous.signal };
    let Marker: string | undefined;
    do {
      const page = await client.listDurableExecutionsByFunction({ ...about, Marker }, options);
      // The filter also matches names that only contain this one.
      const found = page.DurableExecutions?.find(
        (each) => each.DurableExecutionName === DurableExecutionName,
      );
      if (found) {
        const evidence = { asked, answered: `${found.Status}` };
        return { outcome: "happened", result: await result(found, previous), evidence };
      }
      Marker = page.NextMarker;
    } while (Marker);
    return absent(previous, { lagsSeconds, remembersSeconds }, { asked, answered: "no such execution" });
  };
}

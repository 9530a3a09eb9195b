/** The options of an operation that covers a whole durable execution. */
import { InvalidOptionError } from "../core/errors.ts";
import { type Check, checkOptions, methods, seconds } from "../core/option-checks.ts";
import { type IdempotencyOptions, WRAPPER_CHECKS } from "../lambda/options.ts";

/** Options that make no sense while an execution is suspended. */
type Excluded =
  | "leaseSeconds"
  | "lookFirst"
  | "mode"
  | "renewLease"
  | "returns"
  | "whenKeyMissing"
  | "whenStoreFails";

/** The `Lambda` client of `@aws-sdk/client-lambda`, in a version with durable executions. */
export interface DurableExecutionReader {
  getDurableExecution(
    input: { DurableExecutionArn: string },
    options: { abortSignal: AbortSignal },
  ): Promise<{ readonly Status?: string | undefined; readonly Result?: string | undefined }>;
}

export interface DurableIdempotencyOptions<Event = unknown, Write = unknown>
  extends Omit<IdempotencyOptions<Event, Write>, Excluded> {
  /**
   * Asks Lambda whether the execution that holds a key has ended: `new Lambda({})` of `@aws-sdk/client-lambda`. The role needs
   * `lambda:GetDurableExecution`. A key whose execution was stopped, timed out or failed without releasing it is then free as
   * soon as another delivery asks for it; `whenAbandoned` decides what that delivery does.
   * @default - not asked: such a key stays in progress until `executionTimeoutSeconds` have passed, or an operator releases it
   */
  readonly client?: DurableExecutionReader;
  /**
   * The durable function's `ExecutionTimeout`. After that time no execution can still be alive, so the key may be taken over
   * without asking. Never less than the real one: a suspended execution would lose its key.
   * @default 31622400 (366 days, the most that Lambda allows)
   */
  readonly executionTimeoutSeconds?: number;
}

/** https://docs.aws.amazon.com/lambda/latest/api/API_DurableConfig.html */
const MAX_EXECUTION_SECONDS = 31_622_400;

const WHY_NOT: Readonly<Record<Excluded, string>> = {
  leaseSeconds:
    "isn't an option here: the lease lasts as long as an execution can, see `executionTimeoutSeconds`",
  lookFirst: "isn't an option here",
  mode: "isn't an option here: the claim has to be there before the first step. For single steps, `onceStep` supports it",
  renewLease: "isn't an option here: nothing can renew a lease while the execution is suspended",
  returns: "isn't an option here: the result of the execution is the handler's own",
  whenKeyMissing: "isn't an option here: an event without a key is refused",
  whenStoreFails: "isn't an option here: Lambda calls the execution again until the store can be reached",
};

const DURABLE_CHECKS: Readonly<Record<string, Check>> = {
  ...(Object.fromEntries(
    Object.entries(WRAPPER_CHECKS).filter(([name]) => !(name in WHY_NOT)),
  ) as typeof WRAPPER_CHECKS),
  client: methods("getDurableExecution"),
  executionTimeoutSeconds: seconds(1, MAX_EXECUTION_SECONDS),
};

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function checkDurableOptions(options: DurableIdempotencyOptions<never, never>): void {
  const [excluded] = Object.keys(WHY_NOT).filter((name) => name in Object(options)) as Excluded[];
  if (excluded !== undefined) throw new InvalidOptionError(excluded, WHY_NOT[excluded]);
  checkOptions(options, DURABLE_CHECKS, ["key"]);
  // Such a claim is a transaction, whose connection would be open while the execution is suspended.
  if (Object(options.store).handlerOver) {
    throw new InvalidOptionError(
      "store",
      "runs the handler in a database transaction, which can't stay open while an execution is suspended: use PostgresStore",
    );
  }
}

export const leaseSecondsOf = ({
  executionTimeoutSeconds = MAX_EXECUTION_SECONDS,
}: Pick<DurableIdempotencyOptions, "executionTimeoutSeconds">): number => executionTimeoutSeconds;

/** The options of a dispatcher that starts durable executions. */
import { type Clock, type Random, systemClock, systemRandom } from "../core/clock.ts";
import { InvalidOptionError } from "../core/errors.ts";
import { MAX_OPERATION_LENGTH } from "../core/identity.ts";
import type { LambdaContext } from "../core/lambda-context.ts";
import {
  aFunction,
  type Check,
  checkOptions,
  isNamed,
  methods,
  oneOf,
  seconds,
  text,
} from "../core/option-checks.ts";
import { FORWARDERS_CHECK } from "../lambda/batch/forwarders.ts";
import { WRAPPER_CHECKS } from "../lambda/options.ts";

/** An execution, as Lambda describes it. */
export interface DurableExecutionDescription {
  readonly Status?: string | undefined;
  readonly InputPayload?: string | undefined;
  readonly Result?: string | undefined;
}

/** The `Lambda` client of `@aws-sdk/client-lambda`, in a version with durable executions. */
export interface DurableStarter {
  invoke(input: {
    FunctionName: string;
    InvocationType: "Event";
    DurableExecutionName: string;
    Payload: string;
  }): Promise<{ readonly DurableExecutionArn?: string | undefined }>;
  listDurableExecutionsByFunction(input: {
    FunctionName: string;
    DurableExecutionName: string;
    Marker?: string | undefined;
  }): Promise<{
    readonly DurableExecutions?:
      | readonly {
          readonly DurableExecutionArn?: string | undefined;
          readonly DurableExecutionName?: string | undefined;
        }[]
      | undefined;
    readonly NextMarker?: string | undefined;
  }>;
  getDurableExecution(input: { DurableExecutionArn: string }): Promise<DurableExecutionDescription>;
}

/** An execution that was started, now or by an earlier delivery. */
export interface StartedExecution {
  /** The operation's beginning, and a hash of operation, scope and key: 64 characters at most. */
  readonly name: string;
  /** `undefined` if Lambda's answer doesn't have it. */
  readonly arn: string | undefined;
}

export interface StartOnceOptions<Entry = unknown> {
  /** The operation's stable name, 1 to 64 characters. It's part of each execution's name, so a renamed operation starts over. */
  readonly operation: string;
  /**
   * `new Lambda({})` of `@aws-sdk/client-lambda`. The role needs `lambda:InvokeFunction`; to compare with an execution of another
   * payload, and to wait for one, also `lambda:ListDurableExecutionsByFunction` and `lambda:GetDurableExecution`.
   */
  readonly client: DurableStarter;
  /**
   * The durable function, with a version or an alias: its ARN, or `name:alias`. `undefined`, for example from an unset environment
   * variable, is refused.
   */
  readonly functionName: string | undefined;
  /**
   * Reads the idempotency key of a record, an HTTP request or any other event. If it returns nothing, the record isn't started.
   * @default - messages: the key in the envelope, else the source's own id; HTTP: the header `Idempotency-Key`. Required for other
   * events
   */
  readonly key?: (record: Entry, context: LambdaContext) => string | undefined;
  /**
   * The verified owner of the key, such as `callerFromJwt()`. Required for HTTP requests: the literal `"public"` is the explicit
   * opt-out.
   * @default - messages have no owner
   */
  readonly scope?: ((record: Entry, context: LambdaContext) => string | undefined) | "public";
  /**
   * The input of the execution, as JSON. It must be the same in each delivery, so leave out what each one has of its own. It may
   * include the key, which is the second argument.
   * @default - what was sent: the parsed body of a message or request, the image of an item, the detail of an event
   */
  readonly payload?: (record: Entry, key: string) => unknown;
  /**
   * The part of the payload that decides whether two deliveries carry the same request, if Lambda says that they differ.
   * @default - the whole payload
   */
  readonly fingerprint?: (payload: never) => unknown;
  /**
   * The topics, buses and pipes whose envelopes are trusted, as for `idempotentBatch`.
   * @default - none
   */
  readonly trustedForwarders?: readonly (string | undefined)[];
  /**
   * How many records of a batch are started at the same time.
   * @default 10
   */
  readonly concurrency?: number;
  /**
   * Whether the event source mapping reports batch item failures. Kafka has that setting in provisioned mode only.
   * @default - `true`, for Kafka `false`
   */
  readonly reportBatchItemFailures?: boolean;
  /**
   * Gets the error of a record that wasn't started. Its message comes back.
   * @default - logs it
   */
  readonly onRecordError?: (error: unknown, record: Entry) => void;
  /**
   * HTTP: the address at which the caller can ask for the execution, for the header `Location`.
   * @default - none
   */
  readonly address?: (execution: StartedExecution) => string;
  /**
   * HTTP: how long a request waits for the result of its execution, in seconds. It then gets the result, else 202.
   * @default 0
   */
  readonly waitSeconds?: number;
  /** @default - the system's clock */
  readonly clock?: Clock;
  /** @default - the system's randomness */
  readonly random?: Random;
}

export type StartSettings = Required<
  Pick<StartOnceOptions, "clock" | "concurrency" | "random" | "waitSeconds">
> &
  Omit<StartOnceOptions, "functionName"> & { readonly functionName: string };

const CHECKS: Readonly<Record<keyof StartOnceOptions, Check>> = {
  operation: text(MAX_OPERATION_LENGTH),
  client: methods("invoke", "listDurableExecutionsByFunction", "getDurableExecution"),
  functionName: text(256),
  key: aFunction,
  scope: WRAPPER_CHECKS.scope,
  payload: aFunction,
  fingerprint: aFunction,
  trustedForwarders: FORWARDERS_CHECK,
  concurrency: [
    "must be a whole number between 1 and 1000",
    (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 1000,
  ],
  reportBatchItemFailures: oneOf(true, false),
  onRecordError: aFunction,
  address: aFunction,
  waitSeconds: seconds(0, 900),
  clock: methods("now", "sleep"),
  random: methods("token", "fraction"),
};

/** An ARN or a name with a version or an alias. Lambda refuses to start a durable execution without one. */
const QUALIFIED = /^(?:(?:arn:[^:]+:lambda:[^:]+:)?\d{12}:(?:function:)?)?(?!function:)[\w-]+:[\w$.-]+$/;

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function startSettings(options: StartOnceOptions<never>): StartSettings {
  checkOptions(options, CHECKS, ["operation", "client", "functionName"]);
  const { operation, functionName } = options;
  if (!isNamed(operation))
    throw new InvalidOptionError("operation", 'contains "undefined": use a name that never changes');
  if (!QUALIFIED.test(`${functionName}`)) {
    throw new InvalidOptionError(
      "functionName",
      "must have a version or an alias, such as `fulfil-order:live`: Lambda starts durable executions only so",
    );
  }
  const defaults = { clock: systemClock, random: systemRandom, concurrency: 10, waitSeconds: 0 };
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(given) } as unknown as StartSettings;
}

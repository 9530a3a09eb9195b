/** The durable context of AWS's SDK, in the part that we use. Its type doesn't need the SDK. */
import { shared } from "../core/copies.ts";
import { isDurableContext } from "../core/durable.ts";
import { InvalidOptionError } from "../core/errors.ts";
import type { Execution } from "../core/execution.ts";
import type { LambdaContext } from "../core/lambda-context.ts";

/**
 * The SDK's private field with the id of the context's own operation, `undefined` for the outermost. Nothing public has it: a plugin
 * gets a context's id only while its function runs, and not in every replay.
 */
const PLACE = "_stepPrefix";

/** What every `DurableContext` of `@aws/durable-execution-sdk-js` has. */
export interface DurableContextLike {
  readonly executionContext: { readonly durableExecutionArn: string };
  readonly lambdaContext: LambdaContext;
}

/**
 * @throws InvalidOptionError (`INVALID_OPTION`) for any other context: such as Lambda's own, in a handler that isn't in
 * `withDurableExecution`
 */
export function readDurableContext(context: unknown): DurableContextLike {
  const { executionContext, lambdaContext } = Object(context) as Partial<DurableContextLike>;
  const arn = executionContext?.durableExecutionArn;
  const isWhole = typeof arn === "string" && arn !== "" && Object(lambdaContext) === lambdaContext;
  if (isWhole && isDurableContext(context)) {
    if (PLACE in Object(context)) return context as DurableContextLike;
    throw new InvalidOptionError(
      "context",
      "comes from a version of @aws/durable-execution-sdk-js in which onceonly can't tell branches apart, so it could confuse their steps: install 2.4.0, or a newer onceonly",
    );
  }
  throw new InvalidOptionError(
    "context",
    "must be the DurableContext of @aws/durable-execution-sdk-js: install version 2 or later, and pass the handler to its `withDurableExecution`",
    context,
  );
}

/**
 * Puts the attempt on the durable context. A copy of the context would count its operations apart from the original.
 * @throws InvalidOptionError (`INVALID_OPTION`) if another operation runs in the same context
 */
export function attach<Context extends object>(context: Context, attempt: Execution<never>): Context {
  refuseSecond(context);
  return Object.defineProperty(context, "idempotency", { value: attempt, enumerable: true });
}

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function refuseSecond(context: object): void {
  if (!Object.hasOwn(context, "idempotency")) return;
  throw new InvalidOptionError(
    "handler",
    "is the second one in this durable context, whose operations a replay would count differently: wrap the whole handler once, and run another operation in `context.runInChildContext`",
  );
}

/**
 * Ends like `work`, unless the SDK has suspended the invocation meanwhile: whatever the handler still returns or throws then
 * is no end of the operation, and a later invocation goes on. Never settles in that case, as the SDK's own operations do.
 */
export async function unlessSuspended<T>(context: unknown, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    if (isSuspended(context)) await new Promise<never>(() => {});
  }
}

/** In a version of the SDK that doesn't show it, such an end counts until the next invocation claims the key. */
const isSuspended = (context: unknown): boolean => terminationOf(context).isTerminated === true;

/**
 * How the SDK ends an invocation. It keeps this in a private field only, and calls its plugins too late; empty in a version that
 * doesn't have it. test/durable/sdk-internals.test.ts says what is lost then.
 */
export function terminationOf(context: unknown): {
  readonly isTerminated?: boolean;
  terminate?(details: object): void;
} {
  const { _executionContext: inner } = Object(context) as {
    readonly _executionContext?: { readonly terminationManager?: object };
  };
  return inner?.terminationManager ?? {};
}

/** What this process knows about an invocation: its operations that cover a context, and the steps it has reached. */
interface Invocation {
  /** The keys in use. */
  readonly keys: Set<string>;
  readonly operations: CoveringOperation[];
  readonly steps: Set<string>;
}

/** By Lambda context: each invocation has its own, which all of its durable contexts share. */
const invocations = shared("durable", () => new WeakMap<object, Invocation>());

function invocationOf({ lambdaContext }: DurableContextLike): Invocation {
  const known = invocations.get(lambdaContext);
  const invocation = known ?? { keys: new Set(), operations: [], steps: new Set() };
  invocations.set(lambdaContext, invocation);
  return invocation;
}

/**
 * Two branches of one execution have the same owner, so each would take the other's claim over.
 * @returns ends the use
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function useKey(context: DurableContextLike, recordKey: string): () => void {
  const { keys } = invocationOf(context);
  if (keys.has(recordKey)) {
    throw new InvalidOptionError(
      "key",
      "is in use by another branch of the same execution: run an operation once per key in an execution",
    );
  }
  keys.add(recordKey);
  return () => void keys.delete(recordKey);
}

/** An operation that covers a durable context and all of its child contexts. */
export interface CoveringOperation {
  /** The place of its context in the execution. */
  readonly place: string;
  readonly recordKey: string;
  readonly fingerprint: string;
  /** When the key was first claimed (epoch ms): an operation that starts over after its retention has other steps. */
  readonly startedAt: number;
}

export function cover(context: DurableContextLike, operation: Omit<CoveringOperation, "place">): void {
  invocationOf(context).operations.push({ ...operation, place: placeOf(context) });
}

/** The innermost operation that covers a context. */
export function coveringOperation(context: DurableContextLike): CoveringOperation | undefined {
  const place = placeOf(context);
  return invocationOf(context)
    .operations.filter((each) => isWithin(place, each.place))
    .sort((a, b) => b.place.length - a.place.length)[0];
}

const isWithin = (place: string, outer: string) =>
  outer === "" || place === outer || place.startsWith(`${outer}-`);

/** Whether an invocation reaches the step for the first time. */
export function isFirstUse(context: DurableContextLike, stepKey: string): boolean {
  const { steps } = invocationOf(context);
  if (steps.has(stepKey)) return false;
  steps.add(stepKey);
  return true;
}

/**
 * The place of a context in its execution, by the ids of the SDK's operations; empty for the outermost. It tells the branches of a
 * `map` apart, whose steps have the same names.
 */
export function placeOf(context: DurableContextLike): string {
  const { [PLACE]: prefix = "" } = context as { readonly [PLACE]?: string };
  return prefix;
}

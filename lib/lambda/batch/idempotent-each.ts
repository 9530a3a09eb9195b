/** Treats an array event as many operations, each with its own answer: AppSync's BatchInvoke, and enrichments of pipes. */
import { InvalidOptionError } from "../../core/errors.ts";
import type { LambdaContext } from "../../core/lambda-context.ts";
import { checkOptions, oneOf } from "../../core/option-checks.ts";
import type { WithIdempotency } from "../context.ts";
import { type IdempotencyOptions, WRAPPER_CHECKS } from "../options.ts";
import { idempotent } from "../plain.ts";
import { sentPart } from "../sent-part.ts";
import { named } from "../wrapper.ts";
import { BATCH_CHECKS } from "./batch-options.ts";
import { concurrencyOf } from "./batch-settings.ts";
import { itemOfRecord } from "./read-event.ts";
import { runLanes } from "./run-lanes.ts";

/** The form of the answers to an array. */
export type AnswerForm = "results" | "appsync";

/**
 * An item's answer for AppSync's BatchInvoke. A direct resolver reads it as it is; a response mapping returns `data`, and passes
 * `errorMessage` and `errorType` to `util.appendError`.
 */
export interface ItemAnswer<Result> {
  /** The handler's result; `null` if the item failed. */
  data: Result | null;
  errorMessage?: string;
  /** The error's `name`, such as the one that a `PermanentError` was created with. */
  errorType?: string;
}

export interface EachOptions<Event = unknown, Write = unknown, Form extends AnswerForm = "results">
  extends Omit<IdempotencyOptions<Event, Write>, "returns"> {
  /**
   * `"results"` returns the results in the order of the items. If an item fails, the call throws, after all others have
   * ended. `"appsync"` returns `{ data }` for each item, or `{ data: null, errorMessage, errorType }` for one that failed, and
   * logs its error. The message reaches the client, as it does when a resolver throws.
   * @default "results"
   */
  readonly answers?: Form;
  /**
   * How many items run at the same time.
   * @default 100; 10 with a PostgreSQL store, because a `pg` pool has 10 connections by default
   */
  readonly concurrency?: number;
}

/** The result of `idempotentEach`: a Lambda handler for arrays, and for single events. */
export interface EachHandler<Event, Result, Form extends AnswerForm> {
  (
    event: readonly Event[],
    context: LambdaContext,
  ): Promise<(Form extends "appsync" ? ItemAnswer<Result> : Result)[]>;
  (event: Event, context: LambdaContext): Promise<Result>;
}

const EACH_CHECKS = {
  ...WRAPPER_CHECKS,
  answers: oneOf("results", "appsync"),
  concurrency: BATCH_CHECKS.concurrency,
};

/**
 * Wraps a handler of one item, so that it runs once per operation, scope and key of each item of an array event. There is one
 * answer for each item, in the order of the items. An event that isn't an array is one item, as for `idempotent`.
 *
 * Use it for AppSync's BatchInvoke (`answers: "appsync"`) and for a function that enriches the records of an EventBridge pipe. If
 * the array comes again, items that are done are replayed, and only the others run.
 *
 * Items with the same key run one after the other, so a duplicate in one array gets the first one's answer. The others run in
 * parallel, in no order. The array shares the invocation's time: if it runs out, no item has an answer.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately. On events, the errors of `idempotent`, unless `answers` is `"appsync"`
 * and the event is an array.
 */
export function idempotentEach<Result, Event = unknown, Write = unknown, Form extends AnswerForm = "results">(
  handler: (item: Event, context: LambdaContext & WithIdempotency<Write>) => Result | Promise<Result>,
  options: EachOptions<Event, Write, Form>,
): EachHandler<Event, Result, Form> {
  if (typeof handler !== "function")
    throw new InvalidOptionError("handler", "must be a function, and comes before the options", handler);
  checkOptions(options, EACH_CHECKS, ["key"]);
  const { answers, concurrency, fingerprint = sentContent, ...rest } = options;
  const runOne = idempotent(handler, { ...rest, fingerprint } as IdempotencyOptions<Event, Write>);
  const most = concurrency ?? concurrencyOf(options.store);
  const eachHandler = async (event: unknown, context: LambdaContext) => {
    if (!Array.isArray(event)) return runOne(event as Event, context);
    const lanes = lanesByKey(event, (item) => options.key(item as Event, context));
    const ends: PromiseSettledResult<unknown>[] = new Array(event.length);
    await runLanes(
      lanes,
      most,
      () => true,
      async (index) => {
        [ends[index]] = (await Promise.allSettled([runOne(event[index], context)])) as [
          (typeof ends)[number],
        ];
        return "done";
      },
    );
    return answers === "appsync"
      ? appSyncAnswers(ends, options.operation)
      : resultsOf(ends, options.operation);
  };
  return named(options, eachHandler) as EachHandler<Event, Result, Form>;
}

/** Otherwise a retry of a queue's record would differ: each delivery has another receipt. */
function sentContent(item: unknown): unknown {
  const record = itemOfRecord(item);
  return record ? record.body : sentPart(item);
}

/** Positions of the items. An item whose key can't be read has its own lane, and fails there. */
function lanesByKey(items: readonly unknown[], keyOf: (item: unknown) => unknown): number[][] {
  const lanes = new Map<unknown, number[]>();
  for (const [index, item] of items.entries()) {
    const named = keyOrNothing(item, keyOf);
    const key = typeof named === "string" ? named : lanes.size;
    const lane = lanes.get(key);
    if (lane) lane.push(index);
    else lanes.set(key, [index]);
  }
  return [...lanes.values()];
}

function keyOrNothing(item: unknown, keyOf: (item: unknown) => unknown): unknown {
  try {
    return keyOf(item);
  } catch {
    return undefined;
  }
}

type Ends = readonly PromiseSettledResult<unknown>[];

function resultsOf(ends: Ends, operation: string): unknown[] {
  const first = ends.findIndex(({ status }) => status === "rejected");
  logFailures(ends, operation, first);
  return ends.map((end) => {
    if (end.status === "rejected") throw end.reason;
    return end.value;
  });
}

/** https://docs.aws.amazon.com/appsync/latest/devguide/resolver-mapping-template-reference-lambda.html */
function appSyncAnswers(ends: Ends, operation: string): ItemAnswer<unknown>[] {
  logFailures(ends, operation);
  return ends.map((end) => {
    if (end.status === "fulfilled") return { data: end.value ?? null };
    const { message, name } = Object(end.reason) as Partial<Error>;
    const errorType = name || "Error";
    // AppSync treats an answer without a message as a success.
    return { data: null, errorMessage: message || errorType, errorType };
  });
}

/** Lambda logs the error that is thrown; the others would be lost. */
function logFailures(ends: Ends, operation: string, thrown = -1): void {
  for (const [index, end] of ends.entries()) {
    if (end.status === "fulfilled" || index === thrown) continue;
    console.error(
      `onceonly: item ${index + 1} of ${ends.length} failed (operation "${operation}"):`,
      end.reason,
    );
  }
}

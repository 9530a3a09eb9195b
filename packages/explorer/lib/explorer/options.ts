/** The options of `explore`, their defaults and their rules. */
import { aFunction, type Check, checkOptions, LONGEST_INVOCATION_SECONDS, oneOf } from "onceonly/kit";
import type { SimulatedBus, SimulatedTopic } from "../simulator/room-options.ts";
import type { Simulator } from "../simulator/simulator.ts";
import type { SimulatedQueue, SimulatedTable } from "../simulator/simulator-options.ts";
import type { Effect } from "./effect.ts";
import { SOURCE_KINDS, type SourceKind } from "./source.ts";

/** Another system, as the handler reaches it through `fetch` or `node:http`. */
export type OutsideService = (request: Request) => Response | Promise<Response>;

export interface ExploreOptions {
  /**
   * The handler's name in the report.
   * @default - the `operation` of the first record it claims, or the function's name if it has no record
   */
  readonly name?: string | undefined;
  /**
   * Who sends the event and redelivers it: an HTTP client, a queue, a stream, an asynchronous invocation, a
   * schedule; or Lambda's durable service, which starts an execution with the event as its input, calls the handler
   * again after each suspension and crash, and starts another execution for each duplicate.
   * @default - derived from the shape of the event; never `durable`
   */
  readonly source?: SourceKind | undefined;
  /**
   * The tables that the handler uses, by name.
   * @default - only the idempotency table
   */
  readonly tables?: Readonly<Record<string, SimulatedTable>> | undefined;
  /**
   * Tables that only track progress: their items don't count as effects. A table that isn't in `tables` is
   * created. Records of onceonly are never effects, in any table.
   * @default - none
   */
  readonly idempotencyTable?: string | readonly string[] | undefined;
  /**
   * The queues that the handler sends to, by name; a name that ends in `.fifo` is a FIFO queue.
   * @default - none
   */
  readonly queues?: Readonly<Record<string, SimulatedQueue>> | undefined;
  /** The SNS topics that the handler publishes to, by name. @default - none */
  readonly topics?: Readonly<Record<string, SimulatedTopic>> | undefined;
  /**
   * The event buses that the handler puts events on, by name.
   * @default - none: events on a bus that does not exist count too, but reach no consumer
   */
  readonly buses?: Readonly<Record<string, SimulatedBus>> | undefined;
  /** The SSM parameters that the handler reads, by name. @default - none */
  readonly parameters?: Readonly<Record<string, string>> | undefined;
  /** The Secrets Manager secrets that the handler reads, by name; an object becomes JSON. @default - none */
  readonly secrets?: Readonly<Record<string, string | object>> | undefined;
  /**
   * The S3 buckets that the handler uses, by name, with the objects in them by key. Objects are effects: the same
   * bytes under the same key are one.
   * @default - none
   */
  readonly buckets?: Readonly<Record<string, Readonly<Record<string, string | Uint8Array>>>> | undefined;
  /**
   * Other systems, by origin. A call whose `Idempotency-Key` was used before gets the previous response,
   * without calling the system again.
   * @default - none
   */
  readonly outside?: Readonly<Record<string, OutsideService>> | undefined;
  /**
   * Returns the idempotency key of a call to another system.
   * @default - the header `Idempotency-Key`
   */
  readonly callKey?: ((request: Request) => string | null | undefined) | undefined;
  /**
   * Whether `handler` is a factory that creates the handler for each execution environment. Then a crash
   * loses the module's variables, as in Lambda.
   * @default false
   */
  readonly perEnvironment?: boolean | undefined;
  /** Called before each run, for example to write rows or connect functions. */
  readonly setUp?: ((aws: Simulator) => unknown) | undefined;
  /**
   * Additional effects, read at the end of each run.
   * @default - none: items, messages and calls are always counted
   */
  readonly effects?: ((aws: Simulator) => readonly Effect[] | Promise<readonly Effect[]>) | undefined;
  /**
   * Effects that may happen more than once, given as the start of a URL, or the name of a table or queue. The
   * report lists them instead of failing.
   * @default - none
   */
  readonly atLeastOnce?: readonly string[] | undefined;
  /**
   * Names of attributes whose values may differ between runs, such as an attempt counter.
   * @default - none: values that differ between two undisturbed runs are ignored without being named
   */
  readonly ignore?: readonly string[] | undefined;
  /**
   * The function's timeout in seconds. The AWS SDK gives up after about 5 seconds of throttling, so a shorter
   * timeout hides how the handler reacts to errors.
   * @default 30
   */
  readonly timeoutSeconds?: number | undefined;
  /**
   * The longest lease of a claim, in seconds. Frozen environments stay frozen for longer, and redeliveries continue
   * for longer.
   * @default - the timeout plus a minute
   */
  readonly leaseSeconds?: number | undefined;
  /**
   * The visibility timeout of the queue that the event comes from.
   * @default - six times the timeout
   */
  readonly visibilitySeconds?: number | undefined;
  /**
   * Whether the event source reads `batchItemFailures` from the response.
   * @default true
   */
  readonly reportsItemFailures?: boolean | undefined;
  /**
   * The status that the undisturbed run must respond with. A status that clients retry, such as 409, is then final if
   * the response has no `Retry-After`.
   * @default - any below 400: a handler that rejects its event does no work, so there is nothing to explore
   */
  readonly expectedStatus?: number | undefined;
  /**
   * Whether the handler makes no request to any service, so that only repetitions are explored.
   * @default false: such an exploration throws
   */
  readonly expectsNoRequest?: boolean | undefined;
  /**
   * The same seed gives the same report, byte for byte.
   * @default 1
   */
  readonly seed?: number | undefined;
  /**
   * 2 adds runs with two disturbances: a sample of all pairs.
   * @default 1
   */
  readonly depth?: 1 | 2 | undefined;
  /**
   * The largest number of disturbances; the report shows how many were left out.
   * @default 2000
   */
  readonly maxRuns?: number | undefined;
  /**
   * Runs only one disturbance: the id from a finding.
   * @default - all
   */
  readonly only?: string | undefined;
  /**
   * Whether the handler's output is shown, for every run.
   * @default false
   */
  readonly showsOutput?: boolean | undefined;
  /**
   * Called after each run.
   * @default - a bar on stderr, if that is a terminal and the exploration is slow
   */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

export const DEFAULTS = {
  timeoutSeconds: 30,
  /** Added to the timeout. */
  leaseGraceSeconds: 60,
  /** https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html */
  visibilityTimeouts: 6,
  seed: 1,
  depth: 1,
  maxRuns: 2000,
} as const;

const byName = (what: string, holds: (value: unknown) => boolean): Check => [
  `must be an object of ${what} by name`,
  (value) =>
    Object(value) === value &&
    !Array.isArray(value) &&
    Object.values(value as object).every((each) => holds(each)),
];
const isObject = (value: unknown) => typeof value === "object" && value !== null;
const aText: Check = ["must be a string", (value) => typeof value === "string" && value !== ""];
const texts: Check = ["must be an array of strings", (value) => isTexts(value)];
const positive = (max: number): Check => [
  `must be a number above 0 and at most ${max}`,
  (value) => typeof value === "number" && value > 0 && value <= max,
];
const integer: Check = ["must be a whole number", (value) => Number.isInteger(value)];

const CHECKS: Readonly<Record<keyof ExploreOptions, Check>> = {
  name: aText,
  source: oneOf(...SOURCE_KINDS),
  tables: byName("tables", isObject),
  idempotencyTable: ["must be a name or an array of names", (value) => isTexts([value].flat())],
  queues: byName("queues", isObject),
  topics: byName("topics", isObject),
  buses: byName("buses", isObject),
  parameters: byName("texts", (value) => typeof value === "string"),
  secrets: byName("strings or objects", (value) => typeof value === "string" || isObject(value)),
  buckets: byName("objects", isObject),
  outside: byName("functions", (value) => typeof value === "function"),
  callKey: aFunction,
  perEnvironment: oneOf(true, false),
  setUp: aFunction,
  effects: aFunction,
  atLeastOnce: texts,
  ignore: texts,
  timeoutSeconds: positive(LONGEST_INVOCATION_SECONDS),
  leaseSeconds: positive(86_400),
  visibilitySeconds: positive(43_200),
  reportsItemFailures: oneOf(true, false),
  expectedStatus: [
    "must be a status from 200 to 599",
    (value) => Number.isInteger(value) && Number(value) >= 200 && Number(value) <= 599,
  ],
  expectsNoRequest: oneOf(true, false),
  seed: integer,
  depth: oneOf(1, 2),
  maxRuns: ["must be a whole number of at least 1", (value) => Number.isInteger(value) && Number(value) >= 1],
  only: aText,
  showsOutput: oneOf(true, false),
  onProgress: aFunction,
};

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "string" && each !== "");
}

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function checkExploreOptions(options: ExploreOptions): void {
  checkOptions(options, CHECKS, []);
}

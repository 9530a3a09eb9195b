/** Options of the reconciler, with their defaults and rules, and the events that it tells. */
import { LONGEST_INVOCATION_SECONDS, MAX_RETENTION_SECONDS } from "../contract.ts";
import { errorNameOf } from "../core/ask-verify.ts";
import { type Clock, type Random, systemClock, systemRandom } from "../core/clock.ts";
import { hasCode } from "../core/error-code.ts";
import { InvalidOptionError } from "../core/errors.ts";
import {
  aFunction,
  type Check,
  checkOptions,
  isStepName,
  methods,
  seconds,
  text,
} from "../core/option-checks.ts";
import { withDefaults } from "../core/options.ts";
import type { Store } from "../core/store.ts";
import type { VerifyRecord } from "../core/verify.ts";
import { visible } from "../core/visible.ts";

export const RECONCILER_EVENTS = [
  /** The effect of an abandoned attempt happened: its key is completed, or given back behind a step that happened. */
  "happened",
  /** The effect did not happen: the key is given back, and a retry runs. */
  "did-not-happen",
  /** Nobody knows: the key is held, and asked about again. */
  "unknown",
  /** Nobody can be asked: the operation is not among `operations`, or the record cannot be read. */
  "unasked",
  /** The store failed, so that the verdict is not on record: the key is found again. */
  "unrecorded",
] as const;

/** Tells what became of one key. Never holds a key, a payload or a result. */
export interface ReconciledKeyEvent {
  readonly event: (typeof RECONCILER_EVENTS)[number];
  readonly operation: string;
  /** Names the key without showing it. */
  readonly keyHash: string;
  /** For how long nobody has known: since the lease ended, or since the key was held. */
  readonly unknownMs: number;
  /** What `verify` or the store threw. It may hold what they put in it: log its name only. */
  readonly error?: unknown;
}

/** Tells what a run has left: once for each run, also where nothing is left. */
export interface UnsettledEvent {
  readonly event: "unsettled";
  /** Keys of unknown outcome that this run has seen and not settled. */
  readonly keys: number;
  /** How many of them nobody can be asked about. */
  readonly unasked: number;
  /** For how long nobody has known about the oldest of them; 0 where there is none. */
  readonly oldestMs: number;
}

/** Tells what a run has found in the cache in front of its store: once for each run, where there is one. */
export interface CacheCheckedEvent {
  readonly event: "cache-checked";
  readonly confirmed: number;
  /** The store did not confirm them: they were deleted from the cache. */
  readonly dropped: number;
  readonly unchecked: number;
  /** Whether the cache did not answer any more. */
  readonly failed: boolean;
}

export type ReconcilerEvent = ReconciledKeyEvent | UnsettledEvent | CacheCheckedEvent;

/** Who is asked about the keys of one operation. */
export interface ReconciledOperation {
  /**
   * Asked about an attempt that was abandoned outside of its steps. `"hold"` asks nobody: a person decides.
   * @default "hold"
   */
  readonly verify?: VerifyRecord | "hold";
  /**
   * Asked about steps with `atMostOnce` that were interrupted, by the name of each step.
   * @default - nobody: a call asks, or a person decides
   */
  readonly steps?: Readonly<Record<string, VerifyRecord>>;
}

export interface ReconcilerOptions<Write = unknown> {
  /** The store of the operations' records: the handlers' own, with the cache in front of it, if there is one. */
  readonly store: Store<Write>;
  /**
   * Who is asked, by the name of each operation: the function that its `whenAbandoned` is, if that needs neither key nor
   * payload. `"hold"` asks nobody: a person decides. An object `{ verify, steps }` has a function for each step.
   */
  readonly operations: Readonly<Record<string, VerifyRecord | "hold" | ReconciledOperation>>;
  /**
   * For how long nobody must have known about a key before it is asked about, in seconds: 1 to 86400. Clocks of other
   * hosts may be behind by as much.
   * @default 60
   */
  readonly minAgeSeconds?: number;
  /**
   * How long an answer is waited for, in seconds: 0.1 to 2700, and half of the invocation at most. A later answer counts as
   * `unknown`.
   * @default 10
   */
  readonly verifyTimeoutSeconds?: number;
  /**
   * The longest pause between two questions about one key, in seconds: 60 to 86400. The pause is as long as nobody has
   * known, a minute at least.
   * @default 900
   */
  readonly maxPauseSeconds?: number;
  /**
   * About how many keys it asks at once: 1 to 100.
   * @default 4
   */
  readonly concurrency?: number;
  /**
   * How long a settled record is honoured, in seconds: at least as long as the handlers' own records.
   * @default 31622400 (366 days)
   */
  readonly retentionSeconds?: number;
  /**
   * Told what became of each key, and what each run has left. Errors of the observer are ignored.
   * @default - `console.error` with operation and hash of what is not settled, and the name of the error; of onceonly's own errors the text
   */
  readonly observe?: (event: ReconcilerEvent) => void;
  /** @default - the system's clock */
  readonly clock?: Clock;
  /** @default - the system's randomness */
  readonly random?: Random;
}

const ASKED = 'a function, "hold", or { verify, steps }';

const OPERATION_CHECKS: Readonly<Record<keyof ReconciledOperation, Check>> = {
  verify: ['must be a function or "hold"', (value) => value === "hold" || typeof value === "function"],
  steps: [
    "must be an object with a function for each step, by its name",
    (value) =>
      Object.entries(Object(value)).length > 0 &&
      Object.entries(Object(value)).every(([name, each]) => isStepName(name) && typeof each === "function"),
  ],
};

const CHECKS: Readonly<Record<keyof ReconcilerOptions, Check>> = {
  store: methods("claim", "settle", "find", "unknownOutcomes"),
  operations: [
    `must be an object with ${ASKED} for each operation, by its name`,
    (value) => Object(value) === value && !Array.isArray(value) && Object.keys(value as object).length > 0,
  ],
  minAgeSeconds: seconds(1, 86_400),
  verifyTimeoutSeconds: seconds(0.1, LONGEST_INVOCATION_SECONDS / 2),
  maxPauseSeconds: seconds(60, 86_400),
  concurrency: [
    "must be a whole number from 1 to 100",
    (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 100,
  ],
  retentionSeconds: seconds(1, 315_360_000),
  observe: aFunction,
  clock: methods("now", "sleep"),
  random: methods("token", "fraction"),
};

const DEFAULTS = {
  minAgeSeconds: 60,
  verifyTimeoutSeconds: 10,
  maxPauseSeconds: 900,
  concurrency: 4,
  retentionSeconds: MAX_RETENTION_SECONDS,
  observe: logUnsettled,
  clock: systemClock,
  random: systemRandom,
};

export interface ReconcilerSettings<Write> extends Required<Omit<ReconcilerOptions<Write>, "operations">> {
  readonly operations: ReadonlyMap<string, ReconciledOperation>;
}

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function reconcilerSettingsOf<Write>(options: ReconcilerOptions<Write>): ReconcilerSettings<Write> {
  checkOptions(options, CHECKS, ["store", "operations"]);
  const [rule, isName] = text(64);
  const operations = new Map<string, ReconciledOperation>();
  for (const [name, given] of Object.entries(options.operations)) {
    if (!isName(name)) throw new InvalidOptionError("operations", `has a name that ${rule}`, name);
    const isAlone = given === "hold" || typeof given === "function";
    if (!isAlone && (Object(given) !== given || Array.isArray(given))) {
      throw new InvalidOptionError(`operations.${name}`, `must be ${ASKED}`, given);
    }
    if (!isAlone) checkOptions(given, OPERATION_CHECKS, []);
    operations.set(name, isAlone ? { verify: given } : given);
  }
  return { ...withDefaults(options, DEFAULTS), operations } as ReconcilerSettings<Write>;
}

/** Without a subscriber somebody still has to learn of a key that nobody settles. */
function logUnsettled(event: ReconcilerEvent): void {
  if (event.event === "cache-checked") {
    const { dropped, failed } = event;
    if (dropped > 0)
      console.error(`${dropped} entries of the cache were not in the store as they were: dropped`);
    if (failed) console.error("the cache did not answer: its entries were not compared with the store");
    return;
  }
  if (event.event === "unsettled" || event.event === "happened" || event.event === "did-not-happen") return;
  const { operation, keyHash } = event;
  const outcome = `the outcome of ${operation || "a key"} ${keyHash} is ${event.event}:`;
  console.error(visible(outcome), visible(whyOf(event)));
}

/** The texts of these errors are ours, and hold no payload. */
const OWN = ["INVALID_OPTION", "RESPONSE_NOT_STORABLE", "RECORD_CORRUPT", "STORE_UNAVAILABLE"] as const;

function whyOf({ event, error }: ReconciledKeyEvent): string {
  if (error === undefined) {
    return event === "unasked" ? "name its operation in `operations` of reconciler" : "verify does not know";
  }
  const isOurs = OWN.some((code) => hasCode(error, code));
  return isOurs ? (error as Error).message : errorNameOf(error);
}

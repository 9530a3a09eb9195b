/** Options of the reconciler, with their defaults and rules, and the events that it emits. */
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
import type { Store } from "../core/store.ts";
import type { VerifyRecord } from "../core/verify.ts";
import { visible } from "../core/visible.ts";
import { withDefaults } from "../core/with-defaults.ts";

export const RECONCILER_EVENTS = [
  /** The effect of an abandoned attempt happened: its key is completed, or released after a step that happened. */
  "happened",
  /** The effect did not happen: the key is released, and a retry runs. */
  "did-not-happen",
  /** The verifier couldn't tell: the key is held, and asked about again. */
  "unknown",
  /** There is no verifier to ask: the operation is not among `operations`, or the record can't be read. */
  "unasked",
  /** The store failed, so the verdict wasn't recorded: a later run finds the key again. */
  "unrecorded",
] as const;

/** Reports the outcome of one key. Never contains a key, a payload or a result. */
export interface ReconciledKeyEvent {
  readonly event: (typeof RECONCILER_EVENTS)[number];
  readonly operation: string;
  /** Identifies the key without revealing it. */
  readonly keyHash: string;
  /** How long the outcome has been unknown: since the lease ended, or since the key was held. */
  readonly unknownMs: number;
  /** The error that `verify` or the store threw. It may contain sensitive text: log its name only. */
  readonly error?: unknown;
}

/** Reports how many keys a run has left unsettled: once per run, even if nothing is left. */
export interface UnsettledEvent {
  readonly event: "unsettled";
  /** Keys of unknown outcome that this run has seen and not settled. */
  readonly keys: number;
  /** How many of them have no verifier to ask. */
  readonly unasked: number;
  /** How long the oldest of them has been unknown; 0 if there is none. */
  readonly oldestMs: number;
}

/** Reports the cache entries that a run has checked in front of its store: once per run, if there is a cache. */
export interface CacheCheckedEvent {
  readonly event: "cache-checked";
  readonly confirmed: number;
  /** Entries that the store did not confirm: they were deleted from the cache. */
  readonly dropped: number;
  readonly unchecked: number;
  /** Whether the cache stopped answering. */
  readonly failed: boolean;
}

export type ReconcilerEvent = ReconciledKeyEvent | UnsettledEvent | CacheCheckedEvent;

/** The verifiers for the keys of one operation. */
export interface ReconciledOperation {
  /**
   * Asked about an attempt that was abandoned outside of its steps. `"hold"` asks no verifier: an operator decides.
   * @default "hold"
   */
  readonly verify?: VerifyRecord | "hold";
  /**
   * Asked about interrupted steps with `atMostOnce`, by step name.
   * @default - none: a call asks, or an operator decides
   */
  readonly steps?: Readonly<Record<string, VerifyRecord>>;
}

export interface ReconcilerOptions<Write = unknown> {
  /** The store of the operations' records: the same as the handlers', including the cache in front of it, if there is one. */
  readonly store: Store<Write>;
  /**
   * The verifiers by operation name: use the function of the operation's `whenAbandoned`, if it needs neither key nor payload.
   * `"hold"` asks no verifier: an operator decides. An object `{ verify, steps }` has a function for each step.
   */
  readonly operations: Readonly<Record<string, VerifyRecord | "hold" | ReconciledOperation>>;
  /**
   * How long a key's outcome must have been unknown before the reconciler asks about it, in seconds: 1 to 86400. Other hosts'
   * clocks may be behind by that much.
   * @default 60
   */
  readonly minAgeSeconds?: number;
  /**
   * How long to wait for an answer, in seconds: 0.1 to 2700, and at most half of the invocation. A later answer counts as
   * `unknown`.
   * @default 10
   */
  readonly verifyTimeoutSeconds?: number;
  /**
   * The longest pause between two questions about one key, in seconds: 60 to 86400. The pause is as long as the outcome has been
   * unknown, but at least a minute.
   * @default 900
   */
  readonly maxPauseSeconds?: number;
  /**
   * The number of keys it asks about at the same time: 1 to 100.
   * @default 4
   */
  readonly concurrency?: number;
  /**
   * How long a settled record is honoured, in seconds: at least as long as the handlers' own records.
   * @default 31622400 (366 days)
   */
  readonly retentionSeconds?: number;
  /**
   * Called with the outcome of each key, and with the number that each run has left. Errors thrown by the observer are ignored.
   * @default - `console.error` with the operation, the hash of each unsettled key and the error's name; for onceonly's own
   * errors also the message
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
    "must be an object with a function for each step name",
    (value) =>
      Object.entries(Object(value)).length > 0 &&
      Object.entries(Object(value)).every(([name, each]) => isStepName(name) && typeof each === "function"),
  ],
};

const CHECKS: Readonly<Record<keyof ReconcilerOptions, Check>> = {
  store: methods("claim", "settle", "find", "unknownOutcomes"),
  operations: [
    `must be an object with ${ASKED} for each operation name`,
    (value) => Object(value) === value && !Array.isArray(value) && Object.keys(value as object).length > 0,
  ],
  minAgeSeconds: seconds(1, 86_400),
  verifyTimeoutSeconds: seconds(0.1, LONGEST_INVOCATION_SECONDS / 2),
  maxPauseSeconds: seconds(60, 86_400),
  concurrency: [
    "must be a whole number between 1 and 100",
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
    if (!isName(name))
      throw new InvalidOptionError("operations", `has an invalid operation name: it ${rule}`, name);
    const isAlone = given === "hold" || typeof given === "function";
    if (!isAlone && (Object(given) !== given || Array.isArray(given))) {
      throw new InvalidOptionError(`operations.${name}`, `must be ${ASKED}`, given);
    }
    if (!isAlone) checkOptions(given, OPERATION_CHECKS, []);
    operations.set(name, isAlone ? { verify: given } : given);
  }
  return { ...withDefaults(options, DEFAULTS), operations } as ReconcilerSettings<Write>;
}

/** Without a subscriber, an operator must still learn about unsettled keys. */
function logUnsettled(event: ReconcilerEvent): void {
  if (event.event === "cache-checked") {
    const { dropped, failed } = event;
    if (dropped > 0) console.error(`${dropped} cache entries differed from the store, and were dropped`);
    if (failed) console.error("the cache didn't respond, so its entries weren't compared with the store");
    return;
  }
  if (event.event === "unsettled" || event.event === "happened" || event.event === "did-not-happen") return;
  const { operation, keyHash } = event;
  const outcome = `the outcome of ${operation || "a key"} ${keyHash} is ${event.event}:`;
  console.error(visible(outcome), visible(whyOf(event)));
}

/** The messages of these errors are ours, and contain no payload. */
const OWN = ["INVALID_OPTION", "RESPONSE_NOT_STORABLE", "RECORD_CORRUPT", "STORE_UNAVAILABLE"] as const;

function whyOf({ event, error }: ReconciledKeyEvent): string {
  if (error === undefined) {
    return event === "unasked"
      ? "add its operation to `operations` of the reconciler"
      : "verify returned unknown";
  }
  const isOurs = OWN.some((code) => hasCode(error, code));
  return isOurs ? (error as Error).message : errorNameOf(error);
}

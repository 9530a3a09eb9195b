/** The engine's options: what each one promises, its default and its rule. */
import { MAX_LONG_RETENTION_SECONDS, MAX_RETENTION_SECONDS } from "../contract.ts";
import { type Clock, type Random, systemClock, systemRandom } from "./clock.ts";
import { nobody, type Observe } from "./decisions.ts";
import { hasCode } from "./error-code.ts";
import { InvalidOptionError, PermanentError } from "./errors.ts";
import { MAX_OPERATION_LENGTH } from "./identity.ts";
import {
  aFunction,
  areStepNames,
  type Check,
  checkOptions,
  isNamed,
  methods,
  oneOf,
  seconds,
  text,
} from "./option-checks.ts";
import type { Store } from "./store.ts";
import type { Verify } from "./verify.ts";

export interface EngineOptions<Write = unknown> {
  /** The stable name of what is done: part of the key, so a renamed operation starts anew. 1 to 64 characters. */
  readonly operation: string;
  /** Where records are kept. */
  readonly store: Store<Write>;
  /**
   * Returns the part of the input that tells two payloads apart. A list while a change rolls out: the first is stored, all match.
   * @default - the whole input
   */
  readonly fingerprint?: Fingerprinter | readonly Fingerprinter[];
  /**
   * How long a finished record is honoured, in seconds: two to three times the longest time over which a caller retries.
   * At most 31622400 (366 days), or ten years with `longRetention`.
   * @default 86400 (a day; 35 days for messages)
   */
  readonly retentionSeconds?: number;
  /**
   * Says that a retention of more than 366 days is meant. Without it such a number is taken for milliseconds, and refused.
   * @default false
   */
  readonly longRetention?: boolean;
  /**
   * How long a claim is live at least, in seconds. Required where the remaining time of the invocation is not known, unless
   * `renewLease` is true. A lease that is renewed lasts at least 5 seconds.
   * @default - the remaining time of the invocation; 30 where the lease is renewed
   */
  readonly leaseSeconds?: number;
  /**
   * Whether the lease is renewed while the handler runs, by one request for each third of `leaseSeconds`. The lease then
   * says how long a crash blocks the key, and bounds no work. `signal` aborts at once where the claim is lost. In a Lambda
   * function of the default kind `true` pays for work that is far longer than the lease.
   * @default - `true` on Lambda Managed Instances, and outside Lambda where no remaining time is known and `leaseSeconds` is
   * at least 5; else `false`
   */
  readonly renewLease?: boolean;
  /**
   * How far the clocks of two hosts may differ, in seconds: added to every lease.
   * @default 5
   */
  readonly clockSkewSeconds?: number;
  /**
   * `claimed` runs only after winning a claim. `optimistic` runs first and commits result and writes in one
   * transaction: for handlers whose only effects are committed writes.
   * @default "claimed"
   */
  readonly mode?: "claimed" | "optimistic";
  /**
   * Whether a call looks for a finished record first, by a read that may be stale. A claimed replay then costs half a read unit
   * for each 4 KB of its record, not a write unit for each KB. Every other call costs one read more.
   * @default - in the optimistic mode `true`, else `false`
   */
  readonly lookFirst?: boolean;
  /**
   * What a call does while another one holds a live claim: refuse at once, or wait for the winner's result. In
   * the optimistic mode nobody holds a claim, and there is nothing to wait for. At most `maxWaiters` calls (20 unless given)
   * wait at once for claims of one store in one environment; a further one is refused at once.
   * @default "reject"
   */
  readonly whenInProgress?:
    | "reject"
    | { readonly waitSeconds: number; readonly maxWaiters?: number | undefined };
  /**
   * What to do with a key whose attempt was abandoned: its lease ended, and nobody knows whether its effect happened.
   * `"run"` runs again. `"hold"` lets nobody run until somebody says how the attempt ended. A function is asked, under a claim
   * that fences the former attempt. An effect that happened completes the key with its result. After one that did not
   * happen the handler runs. With neither answer the key is held. A held key is asked about again once a minute.
   * Callers of a held key get OutcomeUnknownError. A record that
   * may be held has no expiry. Not for the optimistic mode, nor with `whenStoreFails: "run"`.
   * @default "run"
   */
  readonly whenAbandoned?: "run" | "hold" | Verify;
  /**
   * The names of all steps that the handler may ask for; any other name is refused. So is a key to which another deployment
   * left a step of another name, before the handler runs.
   * @default - any name
   */
  readonly steps?: readonly string[];
  /**
   * What to do when the store cannot be reached for a claim. `run` runs without a claim, and still records the result
   * if possible. A store that refuses, for lack of rights or of the table, never counts: every retry would run.
   * @default "reject"
   */
  readonly whenStoreFails?: "reject" | "run";
  /**
   * What to do with a key whose record has expired, or a UUIDv7 key older than the retention.
   * @default "run"
   */
  readonly whenKeyExpired?: "run" | "reject";
  /**
   * The form of the whole key, checked before any request: a UUID (RFC 9562), or a pattern of your own. The pattern sees
   * the text of callers, 255 characters at most: keep the pattern free of nested repetitions.
   * @default - any key
   */
  readonly keyFormat?: "uuid" | RegExp;
  /**
   * Errors that will never succeed: recorded and replayed.
   * @default - `PermanentError`
   */
  readonly isFinalError?: (error: unknown) => boolean;
  /**
   * Whether a result is final. A result that is not stored releases the key, unless something was committed.
   * @default - every result
   */
  readonly shouldStore?: (result: unknown) => boolean;
  /**
   * The W3C trace context of the running invocation, such as of the active span of a tracer: asked where the handler commits
   * or reads `traceparent`. Yields nothing where there is none, or none is to be passed on; what it throws is ignored.
   * @default - of an HTTP request its `traceparent` header, of a message in a batch that of its envelope
   */
  readonly traceparent?: () => string | undefined;
  /** Is called with every decision, synchronously. */
  readonly observe?: Observe;
  /** @default - the system's clock */
  readonly clock?: Clock;
  /** @default - the system's randomness */
  readonly random?: Random;
}

export type Fingerprinter = (input: never) => unknown;

export const DEFAULTS = {
  fingerprint: (input: unknown) => input,
  retentionSeconds: 86_400,
  longRetention: false,
  clockSkewSeconds: 5,
  mode: "claimed",
  whenInProgress: "reject",
  whenAbandoned: "run",
  whenStoreFails: "reject",
  whenKeyExpired: "run",
  // A replayed error keeps its own code, so that the class counts too.
  isFinalError: (error: unknown) => error instanceof PermanentError || hasCode(error, "PERMANENT"),
  shouldStore: () => true,
  observe: nobody,
  clock: systemClock,
  random: systemRandom,
} as const;

/** Fills in defaults for what is not given; unlike spreading, an explicit `undefined` keeps the default. */
export function withDefaults<Given extends object, Defaults extends object>(
  given: Given,
  defaults: Defaults,
) {
  const present = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(present) } as unknown as Given &
    Required<Pick<Given, keyof Given & keyof Defaults>>;
}

/** A shorter lease leaves no time to repeat a renewal that fails. */
export const MIN_RENEWED_SECONDS = 5;

const [storeRule, isStore] = methods(
  "claim",
  "settle",
  "insert",
  "find",
  "loadResult",
  "checkEffects",
  "renew",
);
const [waitRule, isWait] = seconds(0, 900);

export const ENGINE_CHECKS: Readonly<Record<keyof EngineOptions, Check>> = {
  operation: text(MAX_OPERATION_LENGTH),
  store: [`${storeRule}: give a store, such as \`new DynamoDBStore({ tableName })\``, isStore],
  fingerprint: [
    "must be a function or a list of functions",
    (value) => [value].flat().every((each) => typeof each === "function") && [value].flat().length > 0,
  ],
  retentionSeconds: seconds(1, MAX_LONG_RETENTION_SECONDS),
  longRetention: oneOf(true, false),
  leaseSeconds: seconds(0.001, 86_400),
  renewLease: oneOf(true, false),
  clockSkewSeconds: seconds(0, 3600),
  mode: oneOf("claimed", "optimistic"),
  lookFirst: oneOf(true, false),
  whenInProgress: [
    `must be "reject" or { waitSeconds, maxWaiters }: the first ${waitRule}, the second, if given, a whole number from 1 to 1000`,
    (value) => value === "reject" || isWaiting(value),
  ],
  whenAbandoned: [
    'must be "run", "hold" or a function',
    (value) => value === "run" || value === "hold" || typeof value === "function",
  ],
  steps: ["must be a list of names of 1 to 64 characters", areStepNames],
  whenStoreFails: oneOf("reject", "run"),
  whenKeyExpired: oneOf("run", "reject"),
  keyFormat: [
    'must be "uuid" or a regular expression',
    (value) => value === "uuid" || Object.prototype.toString.call(value) === "[object RegExp]",
  ],
  isFinalError: aFunction,
  shouldStore: aFunction,
  traceparent: aFunction,
  observe: aFunction,
  clock: methods("now", "sleep"),
  random: methods("token", "fraction"),
};

function isWaiting(value: unknown): boolean {
  const { waitSeconds, maxWaiters = 1, ...unknown } = Object(value) as Record<string, unknown>;
  const isCount =
    Number.isInteger(maxWaiters) && (maxWaiters as number) >= 1 && (maxWaiters as number) <= 1000;
  return isWait(waitSeconds) && isCount && Object.keys(unknown).length === 0;
}

/**
 * Checks each option by its rule, and those that depend on each other.
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function checkEngineOptions(options: EngineOptions): void {
  checkOptions(options, ENGINE_CHECKS, ["operation", "store"]);
  checkOperation(options);
  checkRetention(options);
  checkAbandoned(options);
  checkRenewal(options);
}

/**
 * Two operations whose names lack the same value would answer for each other.
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
function checkOperation({ operation }: EngineOptions): void {
  if (isNamed(operation)) return;
  throw new InvalidOptionError(
    "operation",
    "has the text of a value that is not there as a part, such as `undefined`: give a name that never changes",
  );
}

/** @throws InvalidOptionError (`INVALID_OPTION`) for a retention that is likely to be in milliseconds. */
function checkRetention({ retentionSeconds = 0, longRetention }: EngineOptions): void {
  if (retentionSeconds <= MAX_RETENTION_SECONDS || longRetention) return;
  const rule = `is in seconds (a day is 86400) and must be at most ${MAX_RETENTION_SECONDS} (366 days), unless \`longRetention\` is true`;
  throw new InvalidOptionError("retentionSeconds", rule, retentionSeconds);
}

/** @throws InvalidOptionError (`INVALID_OPTION`) where an attempt has no claim that could be held. */
function checkAbandoned({ whenAbandoned = "run", mode, whenStoreFails, store }: EngineOptions): void {
  if (whenAbandoned === "run") return;
  if (typeof store.unknownOutcomes !== "function") {
    throw new InvalidOptionError(
      "whenAbandoned",
      "must be left out with a store that has no `unknownOutcomes`: nobody would find what it holds. Give the store that method",
    );
  }
  if (mode !== "optimistic" && whenStoreFails !== "run") return;
  const rule =
    mode === "optimistic"
      ? "must be left out in the optimistic mode: nobody holds a claim there, so that none is abandoned"
      : 'must be left out where `whenStoreFails` is "run": such a run leaves no claim that could be held';
  throw new InvalidOptionError("whenAbandoned", rule);
}

/** @throws InvalidOptionError (`INVALID_OPTION`) if the lease is missing, or too short to be renewed in time. */
function checkRenewal({ renewLease, leaseSeconds, mode }: EngineOptions): void {
  if (!renewLease) return;
  if (mode === "optimistic") {
    throw new InvalidOptionError("renewLease", "has no lease to renew in the optimistic mode");
  }
  if (leaseSeconds === undefined || leaseSeconds >= MIN_RENEWED_SECONDS) return;
  const rule = `must be at least ${MIN_RENEWED_SECONDS} where \`renewLease\` is true`;
  throw new InvalidOptionError("leaseSeconds", rule, leaseSeconds);
}

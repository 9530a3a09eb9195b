/** The engine's options: what each one promises, its default and its rule. */
import { MAX_LONG_RETENTION_SECONDS, MAX_RETENTION_SECONDS } from "../contract.ts";
import { type Clock, type Random, systemClock, systemRandom } from "./clock.ts";
import { noObserver, type Observe } from "./decisions.ts";
import { hasCode } from "./error-code.ts";
import { InvalidOptionError, PermanentError } from "./errors.ts";
import { MAX_OPERATION_LENGTH } from "./identity.ts";
import {
  aFunction,
  areStepNames,
  type Check,
  checkOptions,
  instance,
  isNamed,
  methods,
  oneOf,
  seconds,
  text,
} from "./option-checks.ts";
import type { Store } from "./store.ts";
import type { Verify } from "./verify.ts";

export interface EngineOptions<Write = unknown> {
  /** The operation's stable name, 1 to 64 characters. It is part of the key, so a renamed operation starts over. */
  readonly operation: string;
  /** The store that keeps the records. */
  readonly store: Store<Write>;
  /**
   * Returns the part of the input that decides whether two calls carry the same request. Pass a list while you roll out a
   * change: the first one is stored, and a match with any of them counts.
   * @default - the whole input
   */
  readonly fingerprint?: Fingerprinter | readonly Fingerprinter[];
  /**
   * How long a finished record is honoured, in seconds: two to three times the longest time over which a caller retries. At
   * most 31622400 (366 days), or ten years with `allowLongRetention`.
   * @default 86400 (a day; 35 days for messages)
   */
  readonly retentionSeconds?: number;
  /**
   * Confirms that you mean a retention of more than 366 days. Otherwise such a number is refused, because it is probably
   * milliseconds.
   * @default false
   */
  readonly allowLongRetention?: boolean;
  /**
   * Whether a finished record keeps its steps, so that `onceonly fork` can run the operation again from one of them. Each
   * replay then reads them too.
   * @default false
   */
  readonly keepSteps?: boolean;
  /**
   * The minimum time for which a claim is live, in seconds. Required if the remaining time of the invocation is unknown, unless
   * `renewLease` is true. A renewed lease lasts at least 5 seconds.
   * @default - the remaining time of the invocation; 30 if the lease is renewed
   */
  readonly leaseSeconds?: number;
  /**
   * Whether to renew the lease while the handler runs, with one request every third of `leaseSeconds`. The lease then sets how
   * long a crash blocks the key, not how long the handler may run. `signal` aborts immediately when the claim is lost. In a
   * Lambda function of the default kind, `true` pays off for work that lasts far longer than the lease.
   * @default - `true` on Lambda Managed Instances, and outside Lambda if the remaining time is unknown and `leaseSeconds` is at
   * least 5; else `false`
   */
  readonly renewLease?: boolean;
  /**
   * How far the clocks of two hosts may differ, in seconds. Added to every lease.
   * @default 5
   */
  readonly clockSkewSeconds?: number;
  /**
   * `claimed` runs the handler only after winning a claim. `optimistic` runs it first, then commits result and writes in one
   * transaction: for handlers whose only effects are committed writes.
   * @default "claimed"
   */
  readonly mode?: "claimed" | "optimistic";
  /**
   * Whether a call first looks for a finished record, with a read that may be stale. A claimed replay then costs half a read
   * unit per 4 KB of its record instead of a write unit per KB. Every other call costs one more read.
   * @default - in the optimistic mode `true`, else `false`
   */
  readonly lookFirst?: boolean;
  /**
   * What a call does while another one holds a live claim: fail immediately, or wait for the winner's result. At most
   * `maxWaiters` calls (20 by default) wait at the same time for claims of one store in one environment; any further call fails
   * immediately. The optimistic mode has no claims, so there is nothing to wait for.
   * @default "reject"
   */
  readonly whenInProgress?:
    | "reject"
    | { readonly waitSeconds: number; readonly maxWaiters?: number | undefined };
  /**
   * What to do when an earlier attempt died and its outcome is unknown: its lease ended and nothing was recorded. `"run"` runs
   * the handler again. `"hold"` blocks the key until an operator resolves it. A function is called, under a claim that fences
   * the earlier attempt: if the effect happened, its result completes the key; if it didn't, the handler runs; otherwise the
   * key is held, and the function is called again at most once a minute. Callers of a held key get OutcomeUnknownError. A
   * record that may be held has no expiry. Not supported in the optimistic mode, nor with `whenStoreFails: "run"`.
   * @default "run"
   */
  readonly whenAbandoned?: "run" | "hold" | Verify;
  /**
   * The names of all steps that the handler may run; any other name is refused. A key is also refused, before the handler runs,
   * if another deployment left a step with another name in its record.
   * @default - any name
   */
  readonly steps?: readonly string[];
  /**
   * What to do when the store can't be reached for a claim. `run` runs without a claim, and still records the result if
   * possible. It doesn't apply to a store that refuses the request (missing permissions or table), because then every retry
   * would run.
   * @default "reject"
   */
  readonly whenStoreFails?: "reject" | "run";
  /**
   * What to do with a key whose record has expired, or with a UUIDv7 key older than the retention.
   * @default "run"
   */
  readonly whenKeyExpired?: "run" | "reject";
  /**
   * The format of the whole key, checked before any request: a UUID (RFC 9562), or your own pattern. The pattern is matched
   * against callers' text of up to 255 characters, so don't nest repetitions in it.
   * @default - any key
   */
  readonly keyFormat?: "uuid" | RegExp;
  /**
   * Decides which errors are final: a retry can't succeed, so they are recorded and replayed. It isn't awaited.
   * @default - `PermanentError`
   */
  readonly isFinalError?: (error: unknown) => boolean;
  /**
   * Decides whether a result is final. A result that isn't stored releases the key, unless something was committed. It isn't
   * awaited.
   * @default - every result
   */
  readonly shouldStore?: (result: unknown) => boolean;
  /**
   * Returns the W3C trace context of the running invocation, such as that of a tracer's active span. Called when the handler
   * commits or reads `traceparent`. Return `undefined` if there is none or it shouldn't be passed on; errors are ignored.
   * @default - the `traceparent` header of an HTTP request, or the envelope's trace context for a message in a batch
   */
  readonly traceparent?: () => string | undefined;
  /** Called synchronously with every decision. */
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
  allowLongRetention: false,
  keepSteps: false,
  clockSkewSeconds: 5,
  mode: "claimed",
  whenInProgress: "reject",
  whenAbandoned: "run",
  whenStoreFails: "reject",
  whenKeyExpired: "run",
  // A replayed error keeps its own code, so the class counts too.
  isFinalError: (error: unknown) => error instanceof PermanentError || hasCode(error, "PERMANENT"),
  shouldStore: () => true,
  observe: noObserver,
  clock: systemClock,
  random: systemRandom,
} as const;

/** A shorter lease leaves no time to retry a failed renewal. */
export const MIN_RENEWED_SECONDS = 5;

const aStore = instance(
  "a store, such as `new DynamoDBStore({ tableName })`",
  "claim",
  "settle",
  "insert",
  "find",
  "loadResult",
  "checkEffects",
  "renew",
);
const [waitRule, isWait, , meantWait] = seconds(0, 900);

export const ENGINE_CHECKS: Readonly<Record<keyof EngineOptions, Check>> = {
  operation: text(MAX_OPERATION_LENGTH),
  store: aStore,
  fingerprint: [
    "must be a function or an array of functions",
    (value) => [value].flat().every((each) => typeof each === "function") && [value].flat().length > 0,
  ],
  retentionSeconds: seconds(1, MAX_LONG_RETENTION_SECONDS),
  allowLongRetention: oneOf(true, false),
  keepSteps: oneOf(true, false),
  leaseSeconds: seconds(0.001, 86_400),
  renewLease: oneOf(true, false),
  clockSkewSeconds: seconds(0, 3600),
  mode: oneOf("claimed", "optimistic"),
  lookFirst: oneOf(true, false),
  whenInProgress: [
    `must be "reject" or { waitSeconds, maxWaiters? }: \`waitSeconds\` ${waitRule}, \`maxWaiters\` a whole number between 1 and 1000`,
    (value) => value === "reject" || isWaiting(value),
    undefined,
    (value) => {
      const meant = meantWait?.(Object(value).waitSeconds);
      return meant && `{ waitSeconds: ${meant} }`;
    },
  ],
  whenAbandoned: [
    'must be "run", "hold" or a function',
    (value) => value === "run" || value === "hold" || typeof value === "function",
  ],
  steps: ["must be an array of step names, each a string of 1 to 64 characters", areStepNames],
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
 * Checks each option by its rule, then the options that depend on each other.
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
 * Two operations whose names lack the same value would share records.
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
function checkOperation({ operation }: EngineOptions): void {
  if (isNamed(operation)) return;
  throw new InvalidOptionError(
    "operation",
    'contains "undefined" or a similar text; a template literal probably used an unset variable. Use a name that never changes',
  );
}

/** @throws InvalidOptionError (`INVALID_OPTION`) for a retention that is probably in milliseconds. */
function checkRetention({ retentionSeconds = 0, allowLongRetention }: EngineOptions): void {
  if (retentionSeconds <= MAX_RETENTION_SECONDS || allowLongRetention) return;
  const rule = `must be a number of seconds between 1 and ${MAX_RETENTION_SECONDS} (366 days), unless \`allowLongRetention\` is true`;
  throw new InvalidOptionError("retentionSeconds", rule, retentionSeconds, retentionSeconds / 1000);
}

/** @throws InvalidOptionError (`INVALID_OPTION`) if an attempt has no claim that could be held. */
function checkAbandoned({ whenAbandoned = "run", mode, whenStoreFails, store }: EngineOptions): void {
  if (whenAbandoned === "run") return;
  if (typeof store.unknownOutcomes !== "function") {
    throw new InvalidOptionError(
      "whenAbandoned",
      "isn't supported by this store, which can't list held keys: use a store with the method `unknownOutcomes`",
    );
  }
  if (mode !== "optimistic" && whenStoreFails !== "run") return;
  const rule =
    mode === "optimistic"
      ? "isn't supported in optimistic mode, in which there are no claims to abandon: leave it out"
      : 'can\'t be combined with `whenStoreFails: "run"`, because such a run leaves no claim to hold: leave one of them out';
  throw new InvalidOptionError("whenAbandoned", rule);
}

/** @throws InvalidOptionError (`INVALID_OPTION`) if the lease is missing, or too short to be renewed in time. */
function checkRenewal({ renewLease, leaseSeconds, mode }: EngineOptions): void {
  if (!renewLease) return;
  if (mode === "optimistic") {
    throw new InvalidOptionError(
      "renewLease",
      "isn't supported in optimistic mode, in which there is no lease to renew: leave it out",
    );
  }
  if (leaseSeconds === undefined || leaseSeconds >= MIN_RENEWED_SECONDS) return;
  const rule = `must be at least ${MIN_RENEWED_SECONDS} if \`renewLease\` is true`;
  throw new InvalidOptionError("leaseSeconds", rule, leaseSeconds);
}

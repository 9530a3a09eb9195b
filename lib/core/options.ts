/** The engine's options: their promise, and their defaults; option-checks.ts has their rules. */
import { type Clock, type Random, systemClock, systemRandom } from "./clock.ts";
import { nobody, type Observe } from "./decisions.ts";
import { hasCode } from "./error-code.ts";
import { PermanentError } from "./errors.ts";
import {
  checkAbandoned,
  checkOperation,
  checkOptions,
  checkRenewal,
  checkRetention,
  ENGINE_CHECKS,
  MIN_RENEWED_SECONDS,
} from "./option-checks.ts";
import { isLambda, isManagedInstance } from "./platform.ts";
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
   * @default 86400 (a day)
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

export type ResolvedOptions<Write = unknown> = Required<
  Omit<
    EngineOptions<Write>,
    "leaseSeconds" | "renewLease" | "fingerprint" | "keyFormat" | "traceparent" | "steps"
  >
> & {
  readonly traceparent?: EngineOptions["traceparent"];
  readonly steps?: EngineOptions["steps"];
  readonly leaseSeconds: number | undefined;
  readonly renewal: "always" | "untimed" | "never";
  readonly keyPattern: RegExp | undefined;
  readonly fingerprints: readonly ((input: unknown) => unknown)[];
};

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

const UUID = /[\da-f]{8}-[\da-f]{4}-[1-8][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}/i;

/** A copy that matches the whole key, each time alike. The flags g and y would keep a state, and m would end at a line. */
function keyPatternOf(format: "uuid" | RegExp): RegExp {
  const { source, flags } = format === "uuid" ? UUID : format;
  return new RegExp(`^(?:${source})$`, flags.replace(/[gmy]/g, ""));
}

function renewalOf({ renewLease, leaseSeconds, mode }: EngineOptions): ResolvedOptions["renewal"] {
  if (mode === "optimistic") return "never";
  if (renewLease ?? isManagedInstance()) return "always";
  const isOff = renewLease === false || isLambda() || (leaseSeconds ?? 0) < MIN_RENEWED_SECONDS;
  return isOff ? "never" : "untimed";
}

/** A long retention is a number of days. One that isn't, but is whole minutes when read as milliseconds, was most likely meant so. */
function warnOfMilliseconds({ operation, retentionSeconds: seconds = 0 }: EngineOptions): void {
  if (seconds < 300_000 || seconds % 60_000 !== 0 || seconds % 86_400 === 0) return;
  console.warn(
    `onceonly: \`retentionSeconds: ${seconds}\` of "${operation}" is ${(seconds / 86_400).toFixed(1)} days; did you mean ${seconds / 1000} seconds?`,
  );
}

/** Checks the options once and fills in the defaults. */
export function resolveOptions<Write>(options: EngineOptions<Write>): ResolvedOptions<Write> {
  checkOptions(options, ENGINE_CHECKS, ["operation", "store"]);
  checkOperation(options);
  checkRetention(options);
  checkAbandoned(options);
  checkRenewal(options);
  warnOfMilliseconds(options);
  const { fingerprint, keyFormat, ...rest } = withDefaults(options, DEFAULTS);
  return Object.freeze({
    ...rest,
    lookFirst: options.lookFirst ?? rest.mode === "optimistic",
    leaseSeconds: options.leaseSeconds,
    renewal: renewalOf(options),
    keyPattern: keyFormat && keyPatternOf(keyFormat),
    fingerprints: [fingerprint].flat() as ((input: unknown) => unknown)[],
  });
}

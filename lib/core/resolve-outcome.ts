/** A person's verdict about a key of unknown outcome: completes the key, or gives it back, under a fence. */
import { MAX_RETENTION_SECONDS } from "../contract.ts";
import { BY_WHOM_CHECKS, type ByWhom } from "./by-whom.ts";
import type { Clock, Random } from "./clock.ts";
import { InvalidOptionError } from "./errors.ts";
import { identify, PUBLIC_SCOPE } from "./identity.ts";
import { type Check, checkOptions, isStepName, text } from "./option-checks.ts";
import { DEFAULTS, ENGINE_CHECKS } from "./options.ts";
import { encodeResult } from "./outcome.ts";
import { type IdempotencyRecord, openStepsOf, type State } from "./record.ts";
import type { Store } from "./store.ts";
import { endingOf, recordFindings, takeUnknown } from "./take-unknown.ts";
import { encodeEvidence } from "./verify.ts";

export interface ResolveOptions<Write = unknown> {
  /** As the handler's. */
  readonly operation: string;
  /** The store of the handler's records. */
  readonly store: Store<Write>;
  /**
   * The owner of the key, as the handler's `scope` reads it.
   * @default - the operation belongs to nobody
   */
  readonly scope?: string;
  /**
   * How long the resolved record is honoured, in seconds. At least as long as the handler's own records: the default is the most
   * that a handler has without `longRetention`.
   * @default 31622400 (366 days)
   */
  readonly retentionSeconds?: number;
  /** @default - the system's clock */
  readonly clock?: Clock;
  /** @default - the system's randomness */
  readonly random?: Random;
}

/** Who decided what, and why. Both texts are stored as evidence, 256 characters at most: no payloads, no secrets. */
export type Resolution = (
  | {
      readonly outcome: "happened";
      /**
       * What every caller gets from then on; over HTTP the response: `{ statusCode, headers, body }`. One that the store has no
       * room for is not kept: callers then get `ResultNotKeptError`, and nothing runs again.
       */
      readonly result: unknown;
    }
  | { readonly outcome: "did-not-happen" }
) & {
  /**
   * The step that the verdict is about. `happened` makes `result` the result of the step, and a retry goes on behind it; after
   * `did-not-happen` a retry runs the step. Required with `did-not-happen` where a step was begun and nobody knows how it ended.
   * @default - the verdict is about the whole key
   */
  readonly step?: string;
} & ByWhom;

/** `state` is what the record says where nothing is to be resolved, or somebody else was first. */
export type ResolveAnswer =
  | { readonly resolved: true }
  | { readonly resolved: false; readonly state: State | "absent" };

const RESOLVE_CHECKS: Readonly<Record<keyof ResolveOptions, Check>> = {
  operation: ENGINE_CHECKS.operation,
  store: ENGINE_CHECKS.store,
  scope: text(256),
  retentionSeconds: ENGINE_CHECKS.retentionSeconds,
  clock: ENGINE_CHECKS.clock,
  random: ENGINE_CHECKS.random,
};

const RESOLUTION_CHECKS: Readonly<Record<string, Check>> = {
  outcome: [
    'must be "happened" or "did-not-happen"',
    (value) => /^(happened|did-not-happen)$/.test(`${value}`),
  ],
  result: ["must be given with `happened` alone", () => true],
  step: ["must be the name of a step of 1 to 64 characters", isStepName],
  ...BY_WHOM_CHECKS,
};

/** How long nobody else may claim the key between the two writes. */
const LEASE_MS = 30_000;
const PATIENCE_MS = 2000;

/**
 * Resolves a key that is held, or whose attempt was abandoned: its lease has ended. `happened` completes the key with a
 * result that every later call gets. After `did-not-happen` a retry runs. The first of the two writes takes the key over
 * under a fresh token: an attempt that is still alive records nothing any more. A key that is in progress,
 * completed, failed or released stays as it is, and the answer says so.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`), IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`),
 * ResponseNotStorableError (`RESPONSE_NOT_STORABLE`) before any I/O; StoreUnavailableError (`STORE_UNAVAILABLE`): call again;
 * RecordCorruptError (`RECORD_CORRUPT`).
 */
export async function resolveOutcome<Write>(
  options: ResolveOptions<Write>,
  key: string,
  resolution: Resolution,
): Promise<ResolveAnswer> {
  checkOptions(options, RESOLVE_CHECKS, ["operation", "store"]);
  const { operation, scope = PUBLIC_SCOPE } = options;
  return resolveRecord(options, identify(operation, scope, key).recordKey, resolution);
}

/** As `resolveOutcome`, for the key of a record, as lists name it. */
export async function resolveRecord<Write>(
  options: Omit<ResolveOptions<Write>, "operation" | "scope">,
  recordKey: string,
  resolution: Resolution,
): Promise<ResolveAnswer> {
  checkOptions(options, RESOLVE_CHECKS, ["store"]);
  checkOptions(resolution, RESOLUTION_CHECKS, ["outcome", "by", "why"]);
  const {
    store,
    clock = DEFAULTS.clock,
    random = DEFAULTS.random,
    retentionSeconds = MAX_RETENTION_SECONDS,
  } = options;
  const hasHappened = resolution.outcome === "happened";
  const result = hasHappened ? encodeResult(resolution.result) : undefined;
  const { step } = resolution;
  const mayTake = (record: IdempotencyRecord) => {
    const begun = openStepsOf(record);
    if (step === undefined ? hasHappened || begun.length === 0 : begun.includes(step)) return true;
    throw new InvalidOptionError(
      "step",
      `must be a step that was begun: ${begun.join(", ") || "there is none"}`,
      step,
    );
  };
  const requests = { store, clock, random, patienceMs: PATIENCE_MS };
  const taken = await takeUnknown({ ...requests, leaseMs: LEASE_MS, mayTake }, recordKey);
  if (!taken.claim) return unresolved(taken.record);
  const { seen, now } = taken;
  const { by, why: answered, outcome } = resolution;
  const known = [{ step, hasHappened, result }];
  const settled = await recordFindings(requests, taken, {
    known,
    ending: endingOf(seen, known, false),
    at: now,
    retentionSeconds,
    evidence: encodeEvidence({ verdict: outcome, by, at: now, attempt: seen.attempt, step, answered }),
  });
  return settled.settled ? { resolved: true } : unresolved(settled.record);
}

const unresolved = (record: { readonly state: State } | undefined): ResolveAnswer => ({
  resolved: false,
  state: record?.state ?? "absent",
});

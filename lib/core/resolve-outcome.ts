/** An operator's verdict about a key with an unknown outcome: completes or releases the key, under a fence. */
import { MAX_RETENTION_SECONDS } from "../contract.ts";
import { BY_WHOM_CHECKS, type ByWhom } from "./by-whom.ts";
import type { Clock, Random } from "./clock.ts";
import { InvalidOptionError } from "./errors.ts";
import { isHttpResponse } from "./http-result.ts";
import { identify, PUBLIC_SCOPE } from "./identity.ts";
import { type Check, checkOptions, isStepName, oneOf, text } from "./option-checks.ts";
import { DEFAULTS, ENGINE_CHECKS } from "./options.ts";
import { encodeResult } from "./outcome.ts";
import { type IdempotencyRecord, openStepsOf, type State } from "./record.ts";
import {
  checkHoldsRecords,
  decisionIn,
  findFinished,
  historyOf,
  type Reopening,
  reopen,
} from "./reopening.ts";
import type { SettleAnswer, Store } from "./store.ts";
import { endingOf, recordFindings, retryUntil, takeUnknown } from "./take-unknown.ts";
import { checkSeals, isHttpToken, tokenLike } from "./token-marks.ts";
import { encodeEvidence, type Verification } from "./verify.ts";

export interface ResolveOptions<Write = unknown> {
  /** The same as the handler's. */
  readonly operation: string;
  /** The store of the handler's records. */
  readonly store: Store<Write>;
  /**
   * The owner of the key, as the handler's `scope` returns it.
   * @default - the operation is public
   */
  readonly scope?: string;
  /**
   * How long the resolved record is honoured, in seconds. At least as long as the handler's own records: the default is the
   * maximum without `allowLongRetention`.
   * @default 31622400 (366 days)
   */
  readonly retentionSeconds?: number;
  /** @default - the system's clock */
  readonly clock?: Clock;
  /** @default - the system's randomness */
  readonly random?: Random;
}

/** The decision, who made it, and why. Both texts are stored as evidence, 256 characters at most: no payloads, no secrets. */
export type Resolution = (
  | {
      readonly outcome: "happened";
      /**
       * The result that every caller gets from then on; over HTTP the response: `{ statusCode, headers, body }`. If it is too
       * large for the store it isn't kept: callers then get `ResultNotKeptError`, and nothing runs again.
       */
      readonly result: unknown;
    }
  | { readonly outcome: "did-not-happen" }
) & {
  /**
   * The step that the verdict is about. `happened` makes `result` the result of the step, and a retry continues after it; after
   * `did-not-happen` a retry runs the step. Required with `did-not-happen` if a step was begun and its outcome is unknown.
   * @default - the verdict is about the whole key
   */
  readonly step?: string;
  /**
   * Also replaces an earlier decision: a key that a person, `verify` or the reconciler has completed or released, if no attempt
   * has run since. Callers may already have received the former answer. The former decision stays in the evidence. A key that
   * its handler completed stays as it is.
   * @default false
   */
  readonly evenThoughAnswered?: boolean;
} & ByWhom;

/** `state` is the record's state if there is nothing to resolve, or another process was first. */
export type ResolveAnswer =
  | { readonly resolved: true }
  | {
      readonly resolved: false;
      readonly state: State | "absent";
      /** The decision that ended the key, which `evenThoughAnswered` replaces. */
      readonly decided?: {
        readonly verdict: Verification["outcome"];
        readonly by: string;
        /** Epoch ms. */
        readonly at: number;
      };
    };

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
  result: ['is only valid with `outcome: "happened"`', () => true],
  step: ["must be the name of a step of 1 to 64 characters", isStepName],
  evenThoughAnswered: oneOf(true, false),
  ...BY_WHOM_CHECKS,
};

/** How long no other call may claim the key between the two writes. */
const LEASE_MS = 30_000;
const PATIENCE_MS = 2000;

/**
 * Resolves a key that is held, or whose attempt was abandoned: its lease has ended. `happened` completes the key with a result
 * that every later call gets. After `did-not-happen` a retry runs. The first of the two writes takes the key over under a fresh
 * token: an attempt that is still alive can't record anything any more. A key that is in progress, completed, failed or
 * released stays as it is, and the answer says so; `evenThoughAnswered` also replaces an earlier decision.
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

/** Like `resolveOutcome`, for a record's key as lists show it. */
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
  const { step, evenThoughAnswered } = resolution;
  if (evenThoughAnswered && step !== undefined)
    throw new InvalidOptionError(
      "step",
      "can't be combined with `evenThoughAnswered`: correct the whole key",
    );
  if (evenThoughAnswered) checkHoldsRecords(store);
  const mayTake = (record: IdempotencyRecord) => {
    checkAnswer(store, record, resolution);
    const begun = openStepsOf(record);
    if (step === undefined ? hasHappened || begun.length === 0 : begun.includes(step)) return true;
    throw new InvalidOptionError(
      "step",
      `must be one of the steps that have started (${begun.join(", ") || "there are none"})`,
      step,
    );
  };
  const requests = { store, clock, random, patienceMs: PATIENCE_MS };
  const taken = await takeUnknown({ ...requests, leaseMs: LEASE_MS, mayTake }, recordKey);
  if (!taken.claim && evenThoughAnswered)
    return correct(requests, recordKey, resolution, { result, retentionSeconds });
  if (!taken.claim) return unresolved(taken.record);
  const { seen, now } = taken;
  const { by, why: answered, outcome } = resolution;
  const known = [{ step, hasHappened, result }];
  const settled = await recordFindings(requests, taken, {
    known,
    ending: endingOf(seen, known, false),
    at: now,
    retentionSeconds,
    evidence: encodeEvidence({
      verdict: outcome,
      by,
      at: now,
      attempt: seen.attempt,
      step,
      answered,
    }),
  });
  return settled.settled ? { resolved: true } : unresolved(settled.record);
}

/**
 * Callers of an HTTP operation could read nothing else, and got an error until the record expired.
 * @throws InvalidOptionError
 */
function checkAnswer(store: object, record: IdempotencyRecord, resolution: Resolution): void {
  const { outcome, step } = resolution;
  if (outcome !== "happened") return;
  checkSeals(store, record);
  if (step !== undefined || !isHttpToken(record.token)) return;
  if (isHttpResponse(resolution.result)) return;
  throw new InvalidOptionError(
    "result",
    'must be the response that callers of this HTTP operation get, such as { statusCode: 201, headers: { "content-type": "application/json" }, body: "{}" }',
    resolution.result,
  );
}

/** Replaces a decision by another one. The record never runs in between, unless the new decision is that a retry may run. */
async function correct<Write>(
  requests: Reopening<Write>,
  recordKey: string,
  resolution: Resolution,
  { result, retentionSeconds }: { readonly result: string | undefined; readonly retentionSeconds: number },
): Promise<ResolveAnswer> {
  const { store, clock, random, patienceMs } = requests;
  const seen = await findFinished(requests, recordKey);
  if (!seen || !decisionIn(seen)) return unresolved(seen);
  checkAnswer(store, seen, resolution);
  const at = clock.now();
  const { outcome, by, why: answered } = resolution;
  const { fingerprint, createdAt, attempt } = seen;
  const evidence = encodeEvidence({
    ...{ verdict: outcome, by, at, attempt, answered },
    past: historyOf(store, seen),
  });
  const expiresAt = Math.ceil(at / 1000 + retentionSeconds);
  if (outcome === "did-not-happen") {
    const refused = await reopen(requests, seen, { recordKey, at, evidence, expiresAt });
    return refused ? unresolved(refused) : { resolved: true };
  }
  const insertion = {
    ...{ recordKey, token: tokenLike(seen.token, random.token()), fingerprint, createdAt },
    ...{ attempt: attempt + 1, keepsSteps: false, state: "completed" as const, now: at, expiresAt },
    ...{ writes: [], messages: [], result, evidence },
  };
  const insert = (): Promise<SettleAnswer> => store.insert(insertion, seen);
  const corrected = await retryUntil({ clock, random }, at + patienceMs, insert);
  return corrected.settled ? { resolved: true } : unresolved(corrected.record);
}

function unresolved(
  record: IdempotencyRecord | { readonly state: State | "absent" } | undefined,
): ResolveAnswer {
  const decision = record && "evidence" in record ? decisionIn(record) : undefined;
  return {
    resolved: false,
    state: record?.state ?? "absent",
    ...(decision && { decided: { verdict: decision.verdict, by: decision.by, at: decision.at } }),
  };
}

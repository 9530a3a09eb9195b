/** A person's verdict about a key of unknown outcome: completes the key, or gives it back, under a fence. */
import type { Clock, Random } from "./clock.ts";
import { identify, PUBLIC_SCOPE } from "./identity.ts";
import { type Check, checkOptions, ENGINE_CHECKS, text } from "./option-checks.ts";
import { DEFAULTS } from "./options.ts";
import { encodeResult } from "./outcome.ts";
import { isClaimOf, judge, type State, successionOf } from "./record.ts";
import type { Store } from "./store.ts";
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
   * How long the resolved record is honoured, in seconds.
   * @default 86400 (a day)
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
      /** What every caller gets from then on; over HTTP the response: `{ statusCode, headers, body }`. */
      readonly result: unknown;
    }
  | { readonly outcome: "did-not-happen" }
) & {
  /** Who decides, such as a name or a ticket. */
  readonly by: string;
  /** Such as `charge ch_1 is in the dashboard`. */
  readonly why: string;
};

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
  by: text(256),
  why: text(256),
};

/** So long nobody else may claim the key between the two writes. */
const LEASE_MS = 30_000;

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
  checkOptions(resolution, RESOLUTION_CHECKS, ["outcome", "by", "why"]);
  const { operation, store, scope = PUBLIC_SCOPE } = options;
  const {
    clock = DEFAULTS.clock,
    random = DEFAULTS.random,
    retentionSeconds = DEFAULTS.retentionSeconds,
  } = options;
  const { recordKey } = identify(operation, scope, key);
  const hasHappened = resolution.outcome === "happened";
  const result = hasHappened ? encodeResult(resolution.result) : undefined;
  const seen = await store.find(recordKey, { consistent: true });
  const now = clock.now();
  const token = random.token();
  const isOpen = seen?.state === "held" || seen?.state === "in-progress";
  const verdict = seen && judge(seen, { token, fingerprints: [seen.fingerprint], now });
  if (!seen || !isOpen || (verdict !== "held" && verdict !== "vacant")) return unresolved(seen);
  const { fingerprint } = seen;
  const succession = successionOf(seen, now);
  const claim = { recordKey, token, fingerprint, leaseEndsAt: now + LEASE_MS, ...succession };
  const answer = await store.claim(claim, seen);
  if (!answer.won && !isClaimOf(answer.record, token)) return unresolved(answer.record);
  const { by, why: answered, outcome } = resolution;
  const settled = await store.settle({
    recordKey,
    token,
    now,
    state: hasHappened ? "completed" : "released",
    result,
    expiresAt: Math.ceil(now / 1000 + retentionSeconds),
    evidence: encodeEvidence({ verdict: outcome, by, at: now, attempt: seen.attempt, answered }),
    writes: [],
    messages: [],
  });
  return settled.settled ? { resolved: true } : unresolved(settled.record);
}

const unresolved = (record: { readonly state: State } | undefined): ResolveAnswer => ({
  resolved: false,
  state: record?.state ?? "absent",
});

/** Takes over a key with an unknown outcome under a fresh token, which fences the previous attempt, and records the findings. */
import { type Clock, pause, type Random } from "./clock.ts";
import { inTime, REQUEST_MS } from "./ending.ts";
import { isStoreFailure } from "./error-code.ts";
import {
  classify,
  type IdempotencyRecord,
  isClaimOf,
  openStepsOf,
  type StoredStep,
  successionOf,
} from "./record.ts";
import type { Claim, SettleAnswer, Settlement, StepChange, Store } from "./store.ts";
import { tokenLike } from "./token-marks.ts";
import { withPast } from "./verify.ts";

interface Taker<Write> {
  readonly store: Store<Write>;
  readonly clock: Clock;
  readonly random: Random;
  /** How long no other call may take the key. */
  readonly leaseMs: number;
  /** How long each request is retried while the store fails. */
  readonly patienceMs: number;
  /** Whether to take over the record in its current state. Its errors are passed on. */
  readonly mayTake: (seen: IdempotencyRecord) => boolean;
  /** Whether to also fence off an attempt whose lease is live. */
  readonly interrupts?: boolean | undefined;
}

type TakenOver =
  | { readonly claim: Claim; readonly seen: IdempotencyRecord; readonly now: number }
  | {
      readonly claim?: undefined;
      /** The current record instead. */
      readonly record: Pick<IdempotencyRecord, "state"> | undefined;
    };

/**
 * A key that is in progress, completed or failed stays as it is, and so does one that is released and not tracked.
 * @throws StoreUnavailableError: if the claim was applied, the key is abandoned again once its lease has ended.
 * RecordCorruptError.
 */
export async function takeUnknown<Write>(
  { store, clock, random, leaseMs, patienceMs, mayTake, interrupts }: Taker<Write>,
  recordKey: string,
): Promise<TakenOver> {
  const until = clock.now() + patienceMs;
  const seen = await retryUntil({ clock, random }, until, () => store.find(recordKey, { consistent: true }));
  const now = clock.now();
  const token = tokenLike(seen?.token ?? "", random.token());
  const isUnfinished = seen?.state === "released" && seen.expiresAt === undefined;
  const isOpen = isUnfinished || seen?.state === "held" || seen?.state === "in-progress";
  const status = seen && classify(seen, { token, fingerprints: [seen.fingerprint], now });
  const isOver = status === "held" || status === "vacant" || (interrupts && status === "in-progress");
  if (!seen || !isOpen || !isOver || !mayTake(seen)) return { record: seen };
  const { fingerprint } = seen;
  const succession = successionOf(seen, now);
  const claim = { recordKey, token, fingerprint, leaseEndsAt: now + leaseMs, ...succession };
  const answer = await retryUntil({ clock, random }, now + patienceMs, () => store.claim(claim, seen));
  if (!answer.won && !isClaimOf(answer.record, token)) return { record: answer.record };
  return { claim, seen, now };
}

/** The minimum time for a request that has begun, even if the user's share is nearly over. */
const MIN_REQUEST_MS = 5000;

/**
 * Retries temporary store failures until `until` (epoch ms). For requests without the user's writes: the first copy of a
 * request with writes could make its repetition fail.
 * @throws the error of the last try
 */
export async function retryUntil<T>(
  { clock, random }: Pick<Taker<unknown>, "clock" | "random">,
  until: number,
  request: () => Promise<T>,
): Promise<T> {
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 2000)) {
    try {
      return await inTime(request(), Math.min(REQUEST_MS, Math.max(MIN_REQUEST_MS, until - clock.now())));
    } catch (error) {
      const isOver = clock.now() + pauseMs >= until;
      if (!isStoreFailure(error) || error.failure === "refused" || isOver) throw error;
      await pause({ clock, random }, pauseMs);
    }
  }
}

/** The known outcome of the whole key, or of one step. */
export interface KnownOutcome {
  /** Absent if the outcome is that of the whole key. */
  readonly step?: string | undefined;
  readonly hasHappened: boolean;
  /** The encoded result of the effect. */
  readonly result?: string | undefined;
}

interface Ending {
  readonly isOver: boolean;
  /** It's still unknown how the key, or a step that was begun, ended. */
  readonly isHeld: boolean;
  /** A saga must still be brought to its end. */
  readonly isTracked: boolean;
}

/** @param isOpen `verify` was asked, and doesn't know */
export function endingOf(seen: IdempotencyRecord, known: readonly KnownOutcome[], isOpen: boolean): Ending {
  const whole = known.find(({ step }) => step === undefined);
  const isOver = whole?.hasHappened === true;
  const isUnclear = openStepsOf(seen).some((name) => !known.some(({ step }) => step === name));
  return {
    isOver,
    isHeld: isOpen || (!isOver && isUnclear),
    isTracked: !whole && Object.values({ ...seen.steps }).some(({ tracked }) => tracked),
  };
}

interface Findings {
  readonly known: readonly KnownOutcome[];
  readonly ending: Ending;
  /** Epoch ms. */
  readonly at: number;
  readonly retentionSeconds: number;
  /** Encoded by core/verify.ts. */
  readonly evidence: string;
}

/**
 * Completes, releases or holds the key under the claim that has taken it over: one write for each known step, then one for the
 * key. Each is retried while the store fails. An answer that isn't settled means that another process was first.
 * @throws StoreUnavailableError
 */
export async function recordFindings<Write>(
  { store, clock, random, patienceMs }: Omit<Taker<Write>, "leaseMs" | "mayTake">,
  { claim, seen }: { readonly claim: Claim; readonly seen: IdempotencyRecord },
  { known, ending, at, retentionSeconds, evidence: found }: Findings,
): Promise<SettleAnswer> {
  const evidence = withPast(found, seen.evidence);
  const { recordKey, token } = claim;
  const { isOver, isHeld, isTracked } = ending;
  const until = clock.now() + patienceMs;
  const expiresAt = Math.ceil(at / 1000 + retentionSeconds);
  for (const [index, { step, hasHappened, result }] of known.entries()) {
    if (step === undefined) continue;
    // A store that recorded steps can write them.
    const { writeStep } = store as Required<Store<Write>>;
    const about = seen.steps?.[step] as StoredStep;
    const { result: _, ...marks } = about;
    const change: StepChange<Write> = {
      ...{ recordKey, token, name: step, result, writes: [], isFirst: false },
      step: {
        ...marks,
        ...{ state: hasHappened ? "done" : "undone", attempt: claim.attempt, at: at + index },
      },
      resultExpiresAt: expiresAt,
      seen: about,
      // Each step makes the lease a millisecond longer.
      leaseEndsAt: claim.leaseEndsAt + index,
    };
    const written = await retryUntil({ clock, random }, until, () => writeStep.call(store, change));
    if (!written.settled) return written;
  }
  const settlement: Settlement<Write> = {
    recordKey,
    token,
    now: at,
    state: isHeld ? "held" : isOver ? "completed" : "released",
    isListed: !isTracked,
    dropsSteps: isOver && seen.steps !== undefined,
    ...(isOver && { result: known[0]?.result }),
    // A held key never expires.
    ...(!isHeld && !isTracked && { expiresAt }),
    evidence,
    writes: [],
    messages: [],
  };
  const answer = await retryUntil({ clock, random }, until, () => store.settle(settlement));
  // A copy whose answer was lost may be applied, and the key claimed since: that claim keeps the evidence.
  return !answer.settled && answer.record?.evidence === evidence ? { settled: true } : answer;
}

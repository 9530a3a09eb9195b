/** Takes a key of unknown outcome over under a fresh token, which fences the former attempt, and records what was found out. */
import type { Clock, Random } from "./clock.ts";
import { inTime, REQUEST_MS } from "./ending.ts";
import { isStoreFailure } from "./error-code.ts";
import {
  type IdempotencyRecord,
  isClaimOf,
  judge,
  openStepsOf,
  type StoredStep,
  successionOf,
} from "./record.ts";
import type { Claim, SettleAnswer, Settlement, StepChange, Store } from "./store.ts";

interface Taker<Write> {
  readonly store: Store<Write>;
  readonly clock: Clock;
  readonly random: Random;
  /** How long nobody else may take the key. */
  readonly leaseMs: number;
  /** How long each request is repeated while the store fails. */
  readonly patienceMs: number;
  /** Whether the record, as it is now, is to be taken over. Its errors are passed on. */
  readonly mayTake: (seen: IdempotencyRecord) => boolean;
  /** Whether an attempt whose lease is live may be fenced off too. */
  readonly interrupts?: boolean | undefined;
}

type TakenOver =
  | { readonly claim: Claim; readonly seen: IdempotencyRecord; readonly now: number }
  | {
      readonly claim?: undefined;
      /** What is there instead. */
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
  const seen = await persist({ clock, random }, until, () => store.find(recordKey, { consistent: true }));
  const now = clock.now();
  const token = random.token();
  const isUnfinished = seen?.state === "released" && seen.expiresAt === undefined;
  const isOpen = isUnfinished || seen?.state === "held" || seen?.state === "in-progress";
  const verdict = seen && judge(seen, { token, fingerprints: [seen.fingerprint], now });
  const isOver = verdict === "held" || verdict === "vacant" || (interrupts && verdict === "in-progress");
  if (!seen || !isOpen || !isOver || !mayTake(seen)) return { record: seen };
  const { fingerprint } = seen;
  const succession = successionOf(seen, now);
  const claim = { recordKey, token, fingerprint, leaseEndsAt: now + leaseMs, ...succession };
  const answer = await persist({ clock, random }, now + patienceMs, () => store.claim(claim, seen));
  if (!answer.won && !isClaimOf(answer.record, token)) return { record: answer.record };
  return { claim, seen, now };
}

/** A request that has begun gets so much time, also where the user's share is nearly over. */
const MIN_REQUEST_MS = 5000;

/**
 * Asks again while the store fails in a way that may pass, until `until` (epoch ms). For requests without writes of the user:
 * what is repeated of those can be refused by its own first copy.
 * @throws what the last try threw
 */
export async function persist<T>(
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
      await clock.sleep(Math.ceil(pauseMs * (0.5 + random.fraction() / 2)));
    }
  }
}

/** What is known by now of the whole key, or of one step. */
export interface KnownOutcome {
  /** Absent where the outcome is that of the whole key. */
  readonly step?: string | undefined;
  readonly hasHappened: boolean;
  /** The encoded result of what happened. */
  readonly result?: string | undefined;
}

interface Ending {
  readonly isOver: boolean;
  /** Nobody knows yet how the key, or a step that was begun, ended. */
  readonly isHeld: boolean;
  /** Somebody has to see to it that a saga ends. */
  readonly isTracked: boolean;
}

/** @param isOpen somebody was asked, and does not know */
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
 * Completes the key, gives it back, or holds it, under the claim that has taken it over. One write does that, after one write
 * for each step that is known. Each is repeated while the store fails. An answer that is not settled means that somebody else was first.
 * @throws StoreUnavailableError
 */
export async function recordFindings<Write>(
  { store, clock, random, patienceMs }: Omit<Taker<Write>, "leaseMs" | "mayTake">,
  { claim, seen }: { readonly claim: Claim; readonly seen: IdempotencyRecord },
  { known, ending, at, retentionSeconds, evidence }: Findings,
): Promise<SettleAnswer> {
  const { recordKey, token } = claim;
  const { isOver, isHeld, isTracked } = ending;
  const until = clock.now() + patienceMs;
  const expiresAt = Math.ceil(at / 1000 + retentionSeconds);
  for (const [index, { step, hasHappened, result }] of known.entries()) {
    if (step === undefined) continue;
    // A store with steps can write them.
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
    const written = await persist({ clock, random }, until, () => writeStep.call(store, change));
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
    // Nobody forgets a held key.
    ...(!isHeld && !isTracked && { expiresAt }),
    evidence,
    writes: [],
    messages: [],
  };
  const answer = await persist({ clock, random }, until, () => store.settle(settlement));
  // A copy whose answer was lost may be applied, and the key claimed since: that claim keeps the evidence.
  return !answer.settled && answer.record?.evidence === evidence ? { settled: true } : answer;
}

/** Takes a key of unknown outcome over under a fresh token, which fences the former attempt. */
import type { Clock, Random } from "./clock.ts";
import { type IdempotencyRecord, isClaimOf, judge, successionOf } from "./record.ts";
import type { Claim, Store } from "./store.ts";

interface Taker<Write> {
  readonly store: Store<Write>;
  readonly clock: Clock;
  readonly random: Random;
  /** So long nobody else may take the key. */
  readonly leaseMs: number;
  /** Whether the record, as it is now, is to be taken over. What this throws is thrown. */
  readonly mayTake: (seen: IdempotencyRecord) => boolean;
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
  { store, clock, random, leaseMs, mayTake }: Taker<Write>,
  recordKey: string,
): Promise<TakenOver> {
  const seen = await store.find(recordKey, { consistent: true });
  const now = clock.now();
  const token = random.token();
  const isUnfinished = seen?.state === "released" && seen.expiresAt === undefined;
  const isOpen = isUnfinished || seen?.state === "held" || seen?.state === "in-progress";
  const verdict = seen && judge(seen, { token, fingerprints: [seen.fingerprint], now });
  if (!seen || !isOpen || (verdict !== "held" && verdict !== "vacant") || !mayTake(seen)) {
    return { record: seen };
  }
  const { fingerprint } = seen;
  const succession = successionOf(seen, now);
  const claim = { recordKey, token, fingerprint, leaseEndsAt: now + leaseMs, ...succession };
  const answer = await store.claim(claim, seen);
  if (!answer.won && !isClaimOf(answer.record, token)) return { record: answer.record };
  return { claim, seen, now };
}

/** What an operator changes about a finished key: an earlier decision, or that it's finished. The history stays in the evidence. */
import type { Clock, Random } from "./clock.ts";
import { InvalidOptionError } from "./errors.ts";
import { marksOf } from "./front-store.ts";
import { ASKED } from "./operated.ts";
import { type IdempotencyRecord, isClaimOf, isExpired, type State } from "./record.ts";
import { bucketOf } from "./result-pointer.ts";
import type { Store } from "./store.ts";
import { retryUntil } from "./take-unknown.ts";
import { tokenLike } from "./token-marks.ts";
import { decodeEvidence, type Evidence, type PastDecision, pastOf } from "./verify.ts";

/** How many earlier decisions a record keeps. */
const MAX_PAST = 5;

/** The longest result that is kept in the evidence, in characters. */
const MAX_WAS_LENGTH = 4096;

export interface Reopening<Write> {
  readonly store: Store<Write>;
  readonly clock: Clock;
  readonly random: Random;
  readonly patienceMs: number;
}

/**
 * The decision that ended this record, if one did: of a person, of `verify`, or of the reconciler. `undefined` if the handler
 * ended it, or if it has run since.
 */
export function decisionIn({ state, attempt, evidence }: IdempotencyRecord): Evidence | undefined {
  const decision = decodeEvidence(evidence);
  // Each decision is made under the claim after the attempt that it's about.
  if (decision === undefined || decision.step !== undefined || decision.attempt !== attempt - 1)
    return undefined;
  const { verdict, asked } = decision;
  const isCurrent =
    state === "completed"
      ? verdict === "happened" && asked !== ASKED.erase && asked !== ASKED.fork
      : state === "released" && (verdict === "did-not-happen" || asked === ASKED.release);
  return isCurrent ? decision : undefined;
}

/** The earlier decisions of a record, its last one included, and what its callers got until now. */
export function historyOf<Write>(store: Store<Write>, record: IdempotencyRecord): readonly PastDecision[] {
  const { state, evidence, result, completedAt } = record;
  const last = decodeEvidence(evidence);
  const { verdict, by = "handler", at = completedAt, asked, answered } = last ?? {};
  // A store that encrypts has returned the result decrypted.
  const was =
    !marksOf(store).sealsResults &&
    result?.in === "record" &&
    !bucketOf(result) &&
    result.text.length <= MAX_WAS_LENGTH
      ? result.text
      : undefined;
  const earlier = pastOf(evidence).map(({ was: _, ...each }) => each);
  return [...earlier, { state, verdict, by, at, asked, answered, was }].slice(-MAX_PAST);
}

/**
 * A cache would go on answering with the former result, and the other store of a migration would keep it.
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function checkHoldsRecords<Write>(store: Store<Write>): void {
  if (!marksOf(store).copiesRecords) return;
  throw new InvalidOptionError(
    "store",
    "must be the store that holds the records, without `cached` or `migrating` in front of it",
  );
}

/** The finished record as it is now; `undefined` if there is none, or its retention is over. */
export async function findFinished<Write>(
  { store, clock, random, patienceMs }: Reopening<Write>,
  recordKey: string,
): Promise<IdempotencyRecord | undefined> {
  const until = clock.now() + patienceMs;
  const seen = await retryUntil({ clock, random }, until, () => store.find(recordKey, { consistent: true }));
  return seen && !isExpired(seen, clock.now()) ? seen : undefined;
}

/** How long no other call may claim the key between the two writes. */
const LEASE_MS = 30_000;

/**
 * Releases a finished key: two writes. If the process dies between them, the key is abandoned, and listed as such.
 * @returns the record that was there instead, or `undefined` if the key is released
 */
export async function reopen<Write>(
  { store, clock, random, patienceMs }: Reopening<Write>,
  seen: IdempotencyRecord,
  {
    recordKey,
    at,
    evidence,
    expiresAt,
  }: {
    readonly recordKey: string;
    readonly at: number;
    readonly evidence: string;
    readonly expiresAt: number;
  },
): Promise<{ readonly state: State | "absent" } | undefined> {
  const { fingerprint, createdAt, attempt } = seen;
  const token = tokenLike(seen.token, random.token());
  const asking = <T>(request: () => Promise<T>) => retryUntil({ clock, random }, at + patienceMs, request);
  const claim = { recordKey, token, fingerprint, createdAt, attempt: attempt + 1, keepsSteps: false };
  const answer = await asking(() => store.claim({ ...claim, leaseEndsAt: at + LEASE_MS }, seen));
  if (!answer.won && !isClaimOf(answer.record, token)) return { state: answer.record?.state ?? "absent" };
  const settled = await asking(() =>
    store.settle({
      ...{ recordKey, token, now: at, state: "released", isListed: true },
      ...{ expiresAt, evidence, writes: [], messages: [] },
    }),
  );
  return settled.settled ? undefined : { state: settled.record?.state ?? "absent" };
}

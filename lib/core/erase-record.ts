/** Erases the result of a finished operation: its record is replaced by one without it, under a new token. */
import { BY_WHOM_CHECKS } from "./by-whom.ts";
import type { Clock, Random } from "./clock.ts";
import { InvalidOptionError } from "./errors.ts";
import { ASKED, OPERATED_CHECKS } from "./operated.ts";
import { checkOptions } from "./option-checks.ts";
import { DEFAULTS } from "./options.ts";
import { NOT_KEPT } from "./outcome.ts";
import { classify, type IdempotencyRecord } from "./record.ts";
import { bucketOf } from "./result-pointer.ts";
import type { EraseAnswer, EraseApart, Erasing, Erasure, Store } from "./store.ts";
import { retryUntil } from "./take-unknown.ts";
import { tokenLike, usedBucket } from "./token-marks.ts";
import { decodeEvidence, encodeEvidence } from "./verify.ts";

export interface EraseRecordOptions<Write> {
  readonly store: Store<Write>;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  readonly apart: EraseApart;
}

const PATIENCE_MS = 2000;

/**
 * Erases the result of a finished key, in each of the stores that `store` is made of. A key that may still run stays as it is.
 * @throws InvalidOptionError (`INVALID_OPTION`) before any I/O; StoreUnavailableError (`STORE_UNAVAILABLE`): call again;
 * RecordCorruptError (`RECORD_CORRUPT`).
 */
export async function eraseRecord<Write>(
  { store, clock = DEFAULTS.clock, random = DEFAULTS.random, apart }: EraseRecordOptions<Write>,
  recordKey: string,
  erasure: Erasure,
): Promise<EraseAnswer> {
  checkOptions(erasure, BY_WHOM_CHECKS, ["by", "why"]);
  checkOptions({ store, clock, random }, OPERATED_CHECKS, ["store"]);
  return eraseIn(store, { recordKey, erasure, clock, random, apart });
}

/** In a store, or in those that it is made of. */
export function eraseIn<Write>(store: Store<Write>, erasing: Erasing): Promise<EraseAnswer> {
  return store.erase ? store.erase(erasing) : eraseAlone(store, erasing);
}

/**
 * In a single store. Data outside of the record goes first. A replay is then answered as after the erasure, even if the request
 * for the record fails. The next call finishes the erasure.
 */
export async function eraseAlone<Write>(store: Store<Write>, erasing: Erasing): Promise<EraseAnswer> {
  const { recordKey, erasure, clock, random, apart } = erasing;
  const at = clock.now();
  const asking = <T>(request: () => Promise<T>) => retryUntil({ clock, random }, at + PATIENCE_MS, request);
  const seen = await asking(() => store.find(recordKey, { consistent: true }));
  if (!seen) return { erased: false, state: "absent" };
  const { counted = seen } = erasing;
  const { state, fingerprint, attempt, createdAt, completedAt, expiresAt } = counted;
  const token = tokenLike(seen.token, random.token());
  // With a clock at 0, because an expired record is there until it is deleted.
  const status = classify(counted, { token, fingerprints: [fingerprint], now: 0 });
  if (status !== "completed" && status !== "failed") return { erased: false, state };
  // Committed messages are sent, however late: until then the record doesn't expire.
  if (expiresAt === undefined) return { erased: false, state: "waiting" };
  const stored = bucketOf(seen.result);
  if ((stored || usedBucket(seen.token)) && !erasing.reachesBucket)
    throw new InvalidOptionError(
      "store",
      `must be the handler's \`offloaded\` store: ${stored ? `this result is in the bucket ${stored.bucket}` : "the handler's bucket may have results of this key"}, and has to be deleted there too`,
    );
  const { fork } = decodeEvidence(seen.evidence) ?? {};
  const erased = { erased: true, ...(fork?.to && { forkedTo: fork.to }) } as const;
  await asking(() => apart(store, recordKey, seen));
  if (isErased(seen)) return erased;
  const { by, why: answered } = erasure;
  const happened = status === "completed" ? "happened" : "unknown";
  const insertion = {
    ...{ recordKey, token, fingerprint, createdAt, attempt: attempt + 1, keepsSteps: false },
    ...{ state: status, now: completedAt as number, expiresAt, writes: [], messages: [] },
    ...(counted.result && { result: NOT_KEPT }),
    evidence: encodeEvidence({ verdict: happened, by, at, attempt, asked: ASKED.erase, answered, fork }),
  };
  const answer = await asking(() => store.insert(insertion, seen));
  if (answer.settled || (answer.record && isErased(answer.record))) return erased;
  // Its retention was over, and another call claims it again.
  return { erased: false, state: answer.record?.state ?? "absent" };
}

/** An erasure isn't repeated. */
const isErased = ({ evidence }: IdempotencyRecord): boolean =>
  decodeEvidence(evidence)?.asked === ASKED.erase;

/** An unknown outcome, as a store lists it, and the rule of which records are listed. */
import { type IdempotencyRecord, isTracked, openStepsOf } from "./record.ts";
import { decodeEvidence, type Evidence } from "./verify.ts";

/** A key that is held, or whose attempt was abandoned. Doesn't contain payload or result. */
export interface UnknownOutcome {
  /** `<operation>#<scope>#<hash of the key>`: the key itself is not stored. */
  readonly recordKey: string;
  /**
   * `abandoned`: the lease has ended, and no call has come since. `held`: an attempt ended so, and every call is refused.
   * `unfinished`: an attempt has failed between tracked steps, such as those of a saga, and no call has come since.
   * `unreadable`: the record is damaged, or has a version that this code doesn't support.
   */
  readonly state: "abandoned" | "held" | "unfinished" | "unreadable";
  /** When the lease ended, or when the key was held (epoch ms). */
  readonly since: number;
  /** The number of the last claim; absent if the record is unreadable. */
  readonly attempt?: number;
  /**
   * The steps that were begun and whose end is unknown. The list is empty if the operation has stopped between two tracked
   * steps. A later call or an operator settles such a key.
   * @default - the key has no such steps
   */
  readonly steps?: readonly string[];
  /** The last verdict about this key, if there was one. */
  readonly evidence?: Evidence;
}

const KINDS = { held: "held", "in-progress": "abandoned", released: "unfinished" } as const;

/**
 * `undefined` for a record that is settled, is in progress, or expires by itself.
 * @param heldSince when the record got its state, unless it is in progress (epoch ms)
 */
export function unknownOutcomeOf(
  recordKey: string,
  { state, leaseEndsAt, expiresAt, attempt, ...record }: IdempotencyRecord,
  heldSince: number,
  before: number,
): UnknownOutcome | undefined {
  const kind = KINDS[state as keyof typeof KINDS];
  if (!kind || (kind !== "held" && expiresAt !== undefined)) return undefined;
  const since = kind === "abandoned" ? leaseEndsAt : heldSince;
  if (since >= before) return undefined;
  const evidence = decodeEvidence(record.evidence);
  return {
    recordKey,
    state: kind,
    since,
    attempt,
    ...(isTracked(record) && { steps: openStepsOf(record) }),
    ...(evidence && { evidence }),
  };
}

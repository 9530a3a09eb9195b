/** An outcome that nobody knows yet, as a store lists it, and the rule of which records are listed. */
import { type IdempotencyRecord, isTracked, openStepsOf } from "./record.ts";
import { decodeEvidence, type Evidence } from "./verify.ts";

/** A key that is held, or whose attempt was abandoned. Payload and result are not in it. */
export interface UnknownOutcome {
  /** `<operation>#<scope>#<hash of the key>`: the key itself is not stored. */
  readonly recordKey: string;
  /**
   * `abandoned`: the lease has ended, and no call has come since. `held`: an attempt ended so, and everybody is refused.
   * `unfinished`: an attempt has failed between steps that are tracked, such as those of a saga, and no call has come since.
   * `unreadable`: the record is damaged, or of a version that this code does not know.
   */
  readonly state: "abandoned" | "held" | "unfinished" | "unreadable";
  /** When the lease ended, or from when on the key is held (epoch ms). */
  readonly since: number;
  /** The number of the last claim; absent where the record is unreadable. */
  readonly attempt?: number;
  /**
   * The steps that were begun, and have an unknown end. The list is empty where the operation has stopped between two
   * steps that are tracked. A call that goes on, or a person, settles such a key.
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

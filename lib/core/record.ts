/** The stored record: its states, the moves between them, and what a refused claim learns from one. */
import { RECORD_VERSION } from "../contract.ts";
import { RecordCorruptError } from "./errors.ts";

export const STATES = ["in-progress", "completed", "failed", "released", "held"] as const;
export type State = (typeof STATES)[number];

/**
 * Which state may follow which. `absent` is no record, or one whose retention is over.
 * Every move but a claim out of `absent` is conditional on the claim token that was seen or is held.
 */
export const TRANSITIONS = {
  absent: ["in-progress", "completed", "failed"],
  "in-progress": ["in-progress", "completed", "failed", "released", "held"],
  released: ["in-progress", "completed", "failed"],
  held: ["completed", "released"],
  completed: [],
  failed: [],
} as const satisfies Record<State | "absent", readonly State[]>;

/** Where a result is. Small ones are in the record, larger ones in an item of their own, the largest nowhere. */
export type StoredResult =
  | { readonly in: "record"; readonly text: string }
  | { readonly in: "item"; readonly address: string }
  | { readonly in: "nowhere"; readonly bytes: number };

export interface IdempotencyRecord {
  readonly version: number;
  readonly state: State;
  /** Of the last claim. Every write after a claim carries it. */
  readonly token: string;
  /** Counts claims of one key, also across take-overs and releases: the fencing number. */
  readonly attempt: number;
  /** Epoch ms. */
  readonly leaseEndsAt: number;
  readonly fingerprint: string;
  /** Finished steps by name. A record that has any keeps its fingerprint. */
  readonly steps?: Readonly<Record<string, unknown>>;
  /** Encoded by core/result.ts: the value of a completed record, the error of a failed one. */
  readonly result?: StoredResult;
  /** Epoch ms. */
  readonly createdAt: number;
  /** Epoch ms. */
  readonly completedAt?: number;
  /** Epoch seconds: the unit that DynamoDB's TTL reads. Absent means never. */
  readonly expiresAt?: number;
}

/** TTL deletion is late, so expiry is computed on every read: a record is expired from `expiresAt` on. */
export function isExpired(record: Pick<IdempotencyRecord, "expiresAt">, now: number): boolean {
  return record.expiresAt !== undefined && record.expiresAt * 1000 <= now;
}

export interface Seeker {
  readonly token: string;
  /** The first is stored; any of them matches. */
  readonly fingerprints: readonly string[];
  /** Epoch ms. */
  readonly now: number;
}

/** Whether a claim may win against `record` in one request. Stores express exactly this as their condition. */
export function isClaimable(record: IdempotencyRecord, seeker: Seeker): boolean {
  if (record.version !== RECORD_VERSION || isExpired(record, seeker.now)) return false;
  const sameFingerprint = seeker.fingerprints.includes(record.fingerprint);
  if (record.state === "released") return sameFingerprint || record.steps === undefined;
  return record.state === "in-progress" && record.leaseEndsAt < seeker.now && sameFingerprint;
}

export type Refusal = "own" | "expired" | "mismatch" | "claimable" | State;

/**
 * What a record says to a claim that did not win. The order matters: an answer that was lost must not
 * become a conflict with oneself, and a mismatch is told before anything about progress.
 * @throws RecordCorruptError (`RECORD_CORRUPT`) for a version this code does not know.
 */
export function readRefusal(record: IdempotencyRecord, seeker: Seeker): Refusal {
  if (record.version !== RECORD_VERSION) {
    throw new RecordCorruptError(
      `the record has version ${record.version}, this code knows ${RECORD_VERSION}: finish the deployment`,
    );
  }
  if (record.token === seeker.token) return "own";
  if (isExpired(record, seeker.now)) return "expired";
  if (isClaimable(record, seeker)) return "claimable";
  if (!seeker.fingerprints.includes(record.fingerprint)) return "mismatch";
  return record.state;
}

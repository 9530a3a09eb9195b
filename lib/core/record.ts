/** The stored record: its states, the moves between them, and how a refused claim reads one. */
import { HELD_RETRY_SECONDS, RECORD_VERSION, RECORD_VERSIONS, STEPS_VERSION } from "../contract.ts";
import { RecordCorruptError } from "./errors.ts";
import { decidedAt, decodeEvidence, keptOf, type Verify } from "./verify.ts";

export const STATES = ["in-progress", "completed", "failed", "released", "held"] as const;
export type State = (typeof STATES)[number];

/**
 * Which state may follow which. `absent` means no record, or one whose retention is over. Every move is conditional on the
 * claim token that was seen or is held, except a claim out of `absent`.
 */
export const TRANSITIONS = {
  absent: ["in-progress", "completed", "failed"],
  "in-progress": ["in-progress", "completed", "failed", "released", "held"],
  released: ["in-progress", "completed", "failed"],
  // To ask `verify` again, or to resolve: the outcome follows under that claim.
  held: ["in-progress"],
  completed: [],
  failed: [],
} as const satisfies Record<State | "absent", readonly State[]>;

/** Where a result is stored: small ones in the record, larger ones in their own item, the largest nowhere. */
export type StoredResult =
  | { readonly in: "record"; readonly text: string }
  | {
      readonly in: "item";
      readonly address: string;
      /** The item is an object in this bucket, of this size. */
      readonly inBucket?: { readonly bucket: string; readonly bytes: number } | undefined;
    }
  | { readonly in: "nowhere"; readonly bytes: number };

/** A step as its record stores it. Attempt and time together identify each write of a step. */
export interface StoredStep {
  /** `begun`: it's unknown whether its effect happened. `undone`: it is known that it did not happen. */
  readonly state: "begun" | "done" | "undone";
  /** The attempt that wrote this. */
  readonly attempt: number;
  /** When it was written (epoch ms); no two writes in one attempt have the same time. */
  readonly at: number;
  /** The operation must be finished even if no caller retries: it is among the unknown outcomes until it ends. */
  readonly tracked?: boolean | undefined;
  /** The step that comes next. Unless it has its own entry, it's unknown whether its effect happened. */
  readonly next?: string | undefined;
  /** The saga that wrote this could undo the step, and the one in `next`. */
  readonly undo?: boolean | undefined;
  readonly undoNext?: boolean | undefined;
  /** Encoded by core/outcome.ts. */
  readonly result?: StoredResult | undefined;
}

export type StoredSteps = Readonly<Record<string, StoredStep>>;

export interface IdempotencyRecord {
  /** `versionOf` the features that it uses; every store writes it by that rule. */
  readonly version: number;
  readonly state: State;
  /** The token of the last claim. Every write after a claim carries this token. */
  readonly token: string;
  /** Counts claims of one key, also across take-overs and releases: the fencing number. */
  readonly attempt: number;
  /** Epoch ms. */
  readonly leaseEndsAt: number;
  readonly fingerprint: string;
  /** Steps by name. A record that has any keeps its fingerprint. */
  readonly steps?: StoredSteps;
  /** Encoded by core/outcome.ts: the value of a completed record, the error of a failed one. */
  readonly result?: StoredResult;
  /** Epoch ms. */
  readonly createdAt: number;
  /** Epoch ms. */
  readonly completedAt?: number;
  /** Epoch seconds: the unit that DynamoDB's TTL reads. Absent means never. */
  readonly expiresAt?: number;
  /** The last verdict about an attempt with an unknown outcome: JSON of `Evidence` in core/verify.ts. */
  readonly evidence?: string;
}

/** The version that a store writes: the one with steps, from a record's first step until it loses its steps. */
export function versionOf(steps: StoredSteps | undefined): number {
  return steps === undefined ? RECORD_VERSION : STEPS_VERSION;
}

/** Whether this code knows all features of a record. If it doesn't, it never acts on the record. */
export function isKnownVersion(version: number | undefined): boolean {
  return version !== undefined && RECORD_VERSIONS.includes(version);
}

/** The names of steps that were begun and whose end is unknown. */
export function openStepsOf({ steps = {} }: Pick<IdempotencyRecord, "steps">): readonly string[] {
  return Object.keys(steps).filter((name) => steps[name]?.state === "begun");
}

/** Whether the operation must be brought to an end: until then its record has no expiry and is listed. */
export function isTracked({ steps = {} }: Pick<IdempotencyRecord, "steps">): boolean {
  return Object.values(steps).some(({ state, tracked }) => state === "begun" || tracked);
}

/** TTL deletes late, so expiry is computed on every read: a record is expired from `expiresAt` on. */
export function isExpired(record: Pick<IdempotencyRecord, "expiresAt">, now: number): boolean {
  return record.expiresAt !== undefined && record.expiresAt * 1000 <= now;
}

/** A call that asks for a key, and when. */
export interface Claimant {
  readonly token: string;
  /** Any of them matches the record's. */
  readonly fingerprints: readonly string[];
  /** Whether a fingerprint is also the payload's, made in an earlier way. Called only if none of `fingerprints` matches. */
  readonly isFormer?: ((fingerprint: string) => boolean) | undefined;
  /** Epoch ms. */
  readonly now: number;
}

/** Whether the record is a claim under this token that has not ended. */
export function isClaimOf(
  record: Pick<IdempotencyRecord, "token" | "state"> | undefined,
  token: string,
): boolean {
  return record?.token === token && record.state === "in-progress";
}

/** A record's answer to a claimant: it has won, it may take over, or why not. */
export const CLAIM_STATUSES = [
  /** The claim on record is the claimant's own: the answer to it was lost. */
  "own",
  /** The retention is over: the key may be taken over, and nothing in the record counts. */
  "expired",
  /** The attempt on record released the key, or its lease has ended: the key may be taken over. */
  "vacant",
  /** The payload differs. */
  "mismatch",
  "completed",
  "failed",
  "held",
  /** The lease is live. */
  "in-progress",
] as const;
export type ClaimStatus = (typeof CLAIM_STATUSES)[number];

/**
 * Classifies a claimant by the record that refused it: the only rule of who may claim. The order matters: a lost answer must
 * not become a conflict with the same call, and a mismatch comes before anything about progress.
 * @throws RecordCorruptError (`RECORD_CORRUPT`) for a version that this code doesn't know.
 */
export function classify(record: IdempotencyRecord, claimant: Claimant): ClaimStatus {
  if (!isKnownVersion(record.version)) {
    throw new RecordCorruptError(
      `the record has version ${record.version}, but this code supports only ${RECORD_VERSIONS.join(", ")}: finish the deployment`,
    );
  }
  const { state } = record;
  if (isClaimOf(record, claimant.token)) return "own";
  if (isExpired(record, claimant.now)) return "expired";
  // The client may fix its request as long as no part of it is done.
  if (state === "released" && record.steps === undefined) return "vacant";
  const { fingerprints, isFormer } = claimant;
  if (!fingerprints.includes(record.fingerprint) && !isFormer?.(record.fingerprint)) return "mismatch";
  if (state === "released") return "vacant";
  if (state === "in-progress") return record.leaseEndsAt < claimant.now ? "vacant" : "in-progress";
  return state;
}

/** What a record inherits from the previous one. */
export interface Succession {
  /** Counts the claims of one key: the fencing number. */
  readonly attempt: number;
  /** Epoch ms. */
  readonly createdAt: number;
  /** Whether the finished steps of the previous record count. */
  readonly keepsSteps: boolean;
}

/** `seen` is the record that is taken over. If it is expired, only its count is kept. */
export function successionOf(seen: IdempotencyRecord | undefined, now: number): Succession {
  if (seen === undefined) return { attempt: 1, createdAt: now, keepsSteps: false };
  const attempt = seen.attempt + 1;
  return isExpired(seen, now)
    ? { attempt, createdAt: now, keepsSteps: false }
    : { attempt, createdAt: seen.createdAt, keepsSteps: true };
}

/**
 * When the attempt on record ended, at the latest. The lease of a held record belongs to the call that held it, and no handler
 * has run since the first such call.
 */
export function endOf({ state, evidence, leaseEndsAt }: IdempotencyRecord): number {
  if (state !== "held") return leaseEndsAt;
  return keptOf(state, decodeEvidence(evidence)).since ?? decidedAt(evidence);
}

/**
 * Whether a call may claim a held key. A call that could take the key over after a crash may also do so after a hold, because
 * the options and the recorded steps decide what it does then: ask, undo, go on, or hold the key again. Without steps, only an
 * operation that asks or holds can have held the key. `OutcomeUnknownError` asks callers to wait equally long before they
 * retry.
 */
export function mayClaimHeld(
  { evidence, steps }: IdempotencyRecord,
  whenAbandoned: "run" | "hold" | Verify<never>,
  now: number,
): boolean {
  const goesOn = typeof whenAbandoned === "function" || (whenAbandoned === "run" && steps !== undefined);
  return goesOn && now - decidedAt(evidence) >= HELD_RETRY_SECONDS * 1000;
}

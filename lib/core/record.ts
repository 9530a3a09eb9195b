/** The stored record: its states, the moves between them, and what a refused claim learns from one. */
import { HELD_RETRY_SECONDS, RECORD_VERSION, RECORD_VERSIONS, STEPS_VERSION } from "../contract.ts";
import { RecordCorruptError } from "./errors.ts";
import { decidedAt, decodeEvidence, keptOf, type Verify } from "./verify.ts";

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
  // To ask once more, or to resolve: the outcome follows under that claim.
  held: ["in-progress"],
  completed: [],
  failed: [],
} as const satisfies Record<State | "absent", readonly State[]>;

/** Where a result is. Small ones are in the record, larger ones in an item of their own, the largest nowhere. */
export type StoredResult =
  | { readonly in: "record"; readonly text: string }
  | { readonly in: "item"; readonly address: string }
  | { readonly in: "nowhere"; readonly bytes: number };

/** A step as its record keeps it. The pair of attempt and time tells each write of a step from every other one. */
export interface StoredStep {
  /** `begun`: nobody knows whether its effect happened. `undone`: it is known that it did not happen. */
  readonly state: "begun" | "done" | "undone";
  /** The attempt that wrote this. */
  readonly attempt: number;
  /** When it was written (epoch ms); no two writes of one attempt have the same time. */
  readonly at: number;
  /** The operation is to be finished, although nobody may call again: it is among the unknown outcomes until it ends. */
  readonly tracked?: boolean | undefined;
  /** The step that comes next: nobody knows whether its effect happened, as long as it is not on record itself. */
  readonly next?: string | undefined;
  /** The saga that wrote this could undo the step, and the one in `next`. */
  readonly undo?: boolean | undefined;
  readonly undoNext?: boolean | undefined;
  /** Encoded by core/outcome.ts. */
  readonly result?: StoredResult | undefined;
}

export type StoredSteps = Readonly<Record<string, StoredStep>>;

export interface IdempotencyRecord {
  /** `versionOf` of the features that it uses; every store writes it by that rule. */
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
  /** The last verdict about an attempt of unknown outcome: JSON of `Evidence` in core/verify.ts. */
  readonly evidence?: string;
}

/** The version that a store writes: a record has that of its steps from the first one until it loses them. */
export function versionOf(steps: StoredSteps | undefined): number {
  return steps === undefined ? RECORD_VERSION : STEPS_VERSION;
}

/** Whether this code knows all features of a record. It never acts on any other. */
export function isKnownVersion(version: number | undefined): boolean {
  return version !== undefined && RECORD_VERSIONS.includes(version);
}

/** The names of steps that were begun, and have an unknown end. */
export function openStepsOf({ steps = {} }: Pick<IdempotencyRecord, "steps">): readonly string[] {
  return Object.keys(steps).filter((name) => steps[name]?.state === "begun");
}

/** Whether somebody has to see to it that the operation ends: then its record has no expiry, and is listed until then. */
export function isTracked({ steps = {} }: Pick<IdempotencyRecord, "steps">): boolean {
  return Object.values(steps).some(({ state, tracked }) => state === "begun" || tracked);
}

/** TTL deletion is late, so expiry is computed on every read: a record is expired from `expiresAt` on. */
export function isExpired(record: Pick<IdempotencyRecord, "expiresAt">, now: number): boolean {
  return record.expiresAt !== undefined && record.expiresAt * 1000 <= now;
}

/** Who asks for a key, and when. */
export interface Seeker {
  readonly token: string;
  /** Any of them matches the record's. */
  readonly fingerprints: readonly string[];
  /** Whether a fingerprint is the payload's too, made in a former way. Asked only where none of `fingerprints` matches. */
  readonly isFormer?: ((fingerprint: string) => boolean) | undefined;
  /** Epoch ms. */
  readonly now: number;
}

/** Whether the record is a claim under this token, which nobody has ended. */
export function isClaimOf(
  record: Pick<IdempotencyRecord, "token" | "state"> | undefined,
  token: string,
): boolean {
  return record?.token === token && record.state === "in-progress";
}

/** What a record says to a seeker: that it has won, that it may take over, or why not. */
export const VERDICTS = [
  /** The claim on record is the seeker's own: the answer to it was lost. */
  "own",
  /** The retention is over: the key may be taken over, and nothing of the record counts. */
  "expired",
  /** The attempt on record gave the key back, or its lease has ended: the key may be taken over. */
  "vacant",
  /** The payload is another one. */
  "mismatch",
  "completed",
  "failed",
  "held",
  /** The lease is live. */
  "in-progress",
] as const;
export type Verdict = (typeof VERDICTS)[number];

/**
 * Judges a seeker by the record that refused it: the one rule of who may claim. The order matters: an answer that was
 * lost must not become a conflict with oneself, and a mismatch is told before anything about progress.
 * @throws RecordCorruptError (`RECORD_CORRUPT`) for a version this code does not know.
 */
export function judge(record: IdempotencyRecord, seeker: Seeker): Verdict {
  if (!isKnownVersion(record.version)) {
    throw new RecordCorruptError(
      `the record has version ${record.version}, this code knows ${RECORD_VERSIONS.join(" and ")}: finish the deployment`,
    );
  }
  const { state } = record;
  if (isClaimOf(record, seeker.token)) return "own";
  if (isExpired(record, seeker.now)) return "expired";
  // The client may mend its request as long as no part of it is done.
  if (state === "released" && record.steps === undefined) return "vacant";
  const { fingerprints, isFormer } = seeker;
  if (!fingerprints.includes(record.fingerprint) && !isFormer?.(record.fingerprint)) return "mismatch";
  if (state === "released") return "vacant";
  if (state === "in-progress") return record.leaseEndsAt < seeker.now ? "vacant" : "in-progress";
  return state;
}

/** What a record takes from the one before it. */
export interface Succession {
  /** Counts the claims of one key: the fencing number. */
  readonly attempt: number;
  /** Epoch ms. */
  readonly createdAt: number;
  /** Whether the finished steps of the record before count. */
  readonly keepsSteps: boolean;
}

/** `seen` is the record that is taken over; nothing but the count is left of one that is expired. */
export function successionOf(seen: IdempotencyRecord | undefined, now: number): Succession {
  if (seen === undefined) return { attempt: 1, createdAt: now, keepsSteps: false };
  const attempt = seen.attempt + 1;
  return isExpired(seen, now)
    ? { attempt, createdAt: now, keepsSteps: false }
    : { attempt, createdAt: seen.createdAt, keepsSteps: true };
}

/**
 * When the attempt on record had ended, at the latest. The lease of a held record is that of the call that held it, and no
 * handler has run since the first of these.
 */
export function endOf({ state, evidence, leaseEndsAt }: IdempotencyRecord): number {
  if (state !== "held") return leaseEndsAt;
  return keptOf(state, decodeEvidence(evidence)).since ?? decidedAt(evidence);
}

/**
 * Whether a call may claim a held key. A call that could take the key over after a crash may do so after a hold, because
 * the options and the steps on record decide what it does then: ask, undo, go on, or hold the key again. Without steps only
 * an operation that asks or holds can have held the key. `OutcomeUnknownError` asks callers to wait as long before they retry.
 */
export function mayClaimHeld(
  { evidence, steps }: IdempotencyRecord,
  whenAbandoned: "run" | "hold" | Verify<never>,
  now: number,
): boolean {
  const goesOn = typeof whenAbandoned === "function" || (whenAbandoned === "run" && steps !== undefined);
  return goesOn && now - decidedAt(evidence) >= HELD_RETRY_SECONDS * 1000;
}

/** What the console page shows: shapes only, which server and page share. No key, payload or result is in them, except in the bodies that a person asks for. Times are in epoch ms. */
import type { TraceBranch } from "../tree.ts";
/**
 * The states of records, and what the list of unknown outcomes says. A claim whose lease is over is `abandoned`, though its
 * record says `in-progress`. This file imports no code of Node's: the page is checked without its types.
 */
export type LiveState =
  | "in-progress"
  | "completed"
  | "failed"
  | "released"
  | "held"
  | "abandoned"
  | "unfinished"
  | "unreadable";

/** One record, as a row. */
export interface RecordRow {
  readonly table: string;
  /** Names the key without showing it. */
  readonly keyHash: string;
  readonly operation: string;
  readonly scope: string;
  readonly state: LiveState;
  readonly attempt: number;
  readonly createdAt: number;
  /** When the record got its state, or when its lease ends. */
  readonly since: number;
}

/** Keys that wait for the same reason. */
export interface FailureGroup {
  /** The same for the same group, and without meaning. */
  readonly id: string;
  readonly list: "unknown" | "waiting" | "parked";
  readonly table: string;
  readonly operation: string;
  readonly why: string;
  readonly members: readonly { readonly keyHash: string; readonly since: number }[];
}

export interface QueueLook {
  readonly path: string;
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
  /** The path of its dead-letter queue. */
  readonly deadLetters?: string | undefined;
  /** Queues whose dead letters it takes. */
  readonly deadLettersOf: readonly string[];
}

/** A decision of a handler, as its function printed it. */
export interface DecisionLine {
  /** Counts from 1. */
  readonly number: number;
  readonly at: number;
  readonly decision: string;
  readonly operation: string;
  readonly keyHash?: string | undefined;
  readonly attempt?: number | undefined;
  readonly durationMs?: number | undefined;
  readonly errorName?: string | undefined;
}

export interface DecisionsLook {
  /** How often each was made since the start. */
  readonly counts: Readonly<Record<string, number>>;
  /** The latest first. */
  readonly latest: readonly DecisionLine[];
}

/** What the buttons of a local run have done, and may do. */
export interface BreakageLook {
  /** The answer to the next write is lost. */
  readonly losesNext: boolean;
  readonly functions: readonly {
    readonly path: string;
    /** It was invoked, so that there is an event to send again. */
    readonly hasEvent: boolean;
    /** It is killed after its next write. */
    readonly isToBeKilled: boolean;
  }[];
  /** Queues, topics and event buses. */
  readonly destinations: readonly { readonly path: string; readonly isDown: boolean }[];
}

/** What only the local runner knows. */
export interface LocalLook {
  readonly breakage: BreakageLook;
  readonly queues: readonly QueueLook[];
  readonly decisions: DecisionsLook;
}

export interface ConsoleLook {
  /** What is looked at. */
  readonly title: string;
  readonly at: number;
  readonly mayWrite: boolean;
  /** When the page should look again. */
  readonly refreshMs: number;
  /** All records, or those that the sparse indexes name. */
  readonly records: readonly RecordRow[];
  readonly areAllRecords: boolean;
  /** There are more records or groups than are shown. */
  readonly hasMore: boolean;
  readonly groups: readonly FailureGroup[];
  /** Commits whose messages wait or are parked. */
  readonly outbox: { readonly waiting: number; readonly parked: number };
  /** What could not be looked at, and why. */
  readonly problems: readonly string[];
  readonly local?: LocalLook | undefined;
}

/** A decision about a key that can be made now. */
export type KeyChoice =
  | "happened"
  | "did-not-happen"
  | "release"
  | "interrupt"
  | "correct"
  | "rerun"
  | "fork"
  | "erase";

/** A message of a commit that waits or is parked. */
export interface OpenMessage {
  /** Its position in the commit. */
  readonly place: number;
  readonly destination: string;
  readonly state: string;
  readonly code?: string | undefined;
}

/** A payload: sent to the page only if a person asks for it. */
export interface MessageBody {
  readonly key: string;
  readonly body: string;
}

/** A key that was looked up. */
export interface FoundKey {
  readonly keyHash: string;
  /** There's no record. Its child keys are known all the same. */
  readonly isAbsent?: true;
}

/** An owner's keys, as a scan found them; or first what the scan costs. */
export type OwnerLook =
  | { readonly cost: string }
  | {
      /** Names this list. */
      readonly id: string;
      /** What a person types to erase their answers. */
      readonly typed: string;
      readonly keys: readonly { readonly keyHash: string; readonly operation: string }[];
    };

/** A bar on the time axis of a key, or a point if it has no end. Times are in epoch ms. */
export interface LifeMark {
  readonly lane: "attempt" | "lease" | "step" | "decision" | "message";
  readonly label: string;
  readonly from: number;
  readonly to?: number;
}

/** The life of one key: the same tree as `trace` prints, and the decisions that a person can make about it. */
export interface KeyLife {
  readonly keyHash: string;
  readonly operation: string;
  readonly scope: string;
  readonly state: string;
  readonly attempt: number;
  readonly createdAt: number;
  readonly choices: readonly KeyChoice[];
  /** Steps that were begun, and whose outcome is unknown. */
  readonly openSteps: readonly string[];
  /** Steps from which the operation can run again under another key. */
  readonly forkSteps: readonly string[];
  readonly messages: readonly OpenMessage[];
  /** Callers read an HTTP response. */
  readonly isHttp: boolean;
  /** The keys that the handler passes on under the names of its steps: derived, and one-way. */
  readonly childKeys: Readonly<Record<string, string>>;
  readonly marks: readonly LifeMark[];
  readonly tree: readonly TraceBranch[];
}

/** The result of an act, in one sentence. */
export interface ActAnswer {
  readonly done: boolean;
  readonly message: string;
}

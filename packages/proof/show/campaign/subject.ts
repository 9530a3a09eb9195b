// One requested key, and everything known about it: its calls, what happened to their requests, its effects.
import type { Decision } from "onceonly";
import { identify } from "../../../../lib/core/identity.ts";
import type { Answer, Input, Mood } from "./asking.ts";
import type { Variant } from "./variants.ts";

export interface Call {
  readonly id: number;
  readonly host: number;
  readonly version: Input["version"];
  readonly mood: Mood;
  /** Epoch ms by the machine's clock, as all times here. */
  readonly startedAt: number;
  handlerStartedAt?: number;
  commitStartedAt?: number;
  handlerEndedAt?: number;
  attempt?: number;
  endedAt?: number;
  /** Absent while the call is under way, and for ever if its process was killed. */
  answer?: Answer;
  decisions: readonly Decision[];
}

export interface TraceEvent {
  readonly at: number;
  readonly text: string;
}

export interface Subject {
  readonly key: string;
  readonly recordKey: string;
  readonly variant: Variant;
  /** The account that is wanted, or the product. */
  readonly name: string;
  /** Fails under its first payload, until its caller corrects it. */
  readonly mends: boolean;
  readonly calls: Call[];
  readonly events: TraceEvent[];
  version: Input["version"];
  /** What its calls got after all faults were over, if that did not finish it in time. */
  stuck?: string;
}

/** A key that is requested in a storm has this many events at most; the rest is not recorded. */
const MOST_EVENTS = 300;

export function createSubject(given: Pick<Subject, "key" | "variant" | "name" | "mends">): Subject {
  const { recordKey } = identify(given.variant.name, "", given.key);
  return { ...given, recordKey, calls: [], events: [], version: 1 };
}

export function note(subject: Subject, text: string): void {
  if (subject.events.length < MOST_EVENTS) subject.events.push({ at: Date.now(), text });
}

/** Whether an answer ends its operation: all later ones must be the same. */
export function isFinal({ answer, decisions }: Pick<Call, "answer" | "decisions">): boolean {
  // The handler's own answer, which could not be recorded: the caller is informed, and it is documented to run again.
  if (decisions.includes("completion-lost")) return false;
  return answer?.says === "done" || answer?.says === "refused";
}

/** There is nothing more to get: it is final, or another key has the name for good. */
export function isOver(subject: Subject, call: Call): boolean {
  const { answer } = call;
  return isFinal(call) || (answer?.says === "exists" && answer.owner !== subject.key);
}

/** No call runs it, none can, and the one that ran reported that it released the key. */
export function isAtRest(calls: readonly Call[]): boolean {
  return calls.every(({ answer, decisions, handlerStartedAt }) => {
    if (!answer || decisions.includes("claim-lost")) return false;
    if (handlerStartedAt !== undefined) return decisions.includes("released");
    return answer.says === "in-progress" || answer.says === "mismatch";
  });
}

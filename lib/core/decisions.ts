/** Tells subscribers (logs, metrics, traces) what the engine decided. Never a payload or result, and a key to none but who asks for it. */
import { METRICS } from "../contract.ts";
import { shared } from "./copies.ts";
import { isStoreFailure } from "./error-code.ts";
import type { Identity } from "./identity.ts";

export type Decision = keyof typeof METRICS.decisions;

// A function, since bundlers drop an unused call that is marked, but not an argument that reads a property.
const listDecisions = () => Object.keys(METRICS.decisions) as Decision[];

/** All decisions: contract.ts says what each means, and names its metric. */
export const DECISIONS: readonly Decision[] = /* @__PURE__ */ listDecisions();

export interface DecisionEvent {
  readonly decision: Decision;
  readonly operation: string;
  /** The owner of the key; empty for public operations. It may name a person. Absent before the key is known. */
  readonly scope?: string;
  /** Names the key without showing it: the hash part of the record's key. Absent before the key is known. */
  readonly keyHash?: string;
  /**
   * The key itself, which may name a person. No copy of the event has it, nor has its JSON: it is not enumerable, so that nobody
   * prints it by mistake. Absent where `keyHash` is, and in `new-keys`.
   */
  readonly key?: string;
  readonly attempt?: number;
  /** Since the call began. */
  readonly durationMs: number;
  /** For `in-progress` and `held`: since the key was first claimed. */
  readonly ageMs?: number | undefined;
  /** The error that was thrown or swallowed. It may hold what the handler put in it: log its name only. */
  readonly error?: unknown;
  /** W3C trace context of the caller: of the HTTP request, or of the envelope of the message. */
  readonly traceparent?: string | undefined;
}

/** Called synchronously; what it throws is ignored, so that watching can never change an outcome. */
export type Observe = (event: DecisionEvent) => void;

/** Stands for an observer that is not given. */
export const nobody: Observe = () => {};

const told = shared("observed failures", () => new WeakSet<object>());

/** Whether an observer has seen this failure of the store. A failure that no observer has seen goes to the log. */
export function wasTold(error: object): boolean {
  return told.has(error);
}

/** Watching must not change an outcome, whatever the observer throws or rejects with. */
export function tellObserver(
  observe: Observe,
  { operation, scope, keyHash, key }: Pick<DecisionEvent, "operation"> & Partial<Identity>,
  event: Omit<DecisionEvent, "operation" | "scope" | "keyHash" | "key">,
): void {
  if (observe === nobody) return;
  if (isStoreFailure(event.error)) told.add(event.error);
  try {
    const named = { ...event, operation, scope, keyHash };
    const watched: unknown = observe(Object.defineProperty(named, "key", { value: key }) as DecisionEvent);
    if (watched instanceof Promise) watched.catch(() => {});
  } catch {
    // As promised.
  }
}

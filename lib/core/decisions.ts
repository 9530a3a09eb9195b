/**
 * Reports the engine's decisions to subscribers (logs, metrics, traces). Events have no payload or result, and hide the key
 * unless it's read.
 */
import { METRICS } from "../contract.ts";
import { shared } from "./copies.ts";
import { isStoreFailure } from "./error-code.ts";
import type { Identity } from "./identity.ts";
import { quietly } from "./unawaited.ts";

export type Decision = keyof typeof METRICS.decisions;

// A function, because bundlers drop an unused call marked as pure, but not an argument that reads a property.
const listDecisions = () => Object.keys(METRICS.decisions) as Decision[];

/** All decisions: contract.ts explains each one and names its metric. */
export const DECISIONS: readonly Decision[] = /* @__PURE__ */ listDecisions();

export interface DecisionEvent {
  readonly decision: Decision;
  readonly operation: string;
  /** The owner of the key; empty for public operations. It may name a person. Absent until the key is known. */
  readonly scope?: string;
  /** Identifies the key without showing it: the hash part of the record's key. Absent until the key is known. */
  readonly keyHash?: string;
  /**
   * The key itself, which may name a person. It is not enumerable, so it isn't printed by mistake: copies of the event and its
   * JSON don't have it. Absent if `keyHash` is, and in `new-keys`.
   */
  readonly key?: string;
  readonly attempt?: number;
  /** Since the call began. */
  readonly durationMs: number;
  /** For `in-progress` and `held`: since the key was first claimed. */
  readonly ageMs?: number | undefined;
  /** The error that was thrown or swallowed. It may contain the handler's data, so log only its name. */
  readonly error?: unknown;
  /** The caller's W3C trace context: from the HTTP request, or from the message's envelope. */
  readonly traceparent?: string | undefined;
}

/** Called synchronously. Errors that it throws are ignored, so observing can't change an outcome. */
export type Observe = (event: DecisionEvent) => void;

/** The default observer. */
export const noObserver: Observe = () => {};

const reported = shared("observed failures", () => new WeakSet<object>());

/** Whether an observer has seen this store failure. A failure that no observer has seen is logged. */
export function wasReported(error: object): boolean {
  return reported.has(error);
}

/** Observing must not change an outcome, even if the observer throws or rejects. */
export function reportDecision(
  observe: Observe,
  { operation, scope, keyHash, key }: Pick<DecisionEvent, "operation"> & Partial<Identity>,
  event: Omit<DecisionEvent, "operation" | "scope" | "keyHash" | "key">,
): void {
  if (observe === noObserver) return;
  if (isStoreFailure(event.error)) reported.add(event.error);
  const named = { ...event, operation, scope, keyHash };
  quietly(() => observe(Object.defineProperty(named, "key", { value: key }) as DecisionEvent));
}

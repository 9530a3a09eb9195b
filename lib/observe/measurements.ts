/** Converts an event into metrics and the other fields of its line. */
import { METRICS, operationDimension } from "../contract.ts";
import type { DecisionEvent } from "../core/decisions.ts";
import { isStoreFailure } from "../core/error-code.ts";
import type { Measured } from "./emf-line.ts";

/** The event of relay and sweeper for one message. Metrics count its commit instead. */
export interface SendEvent {
  readonly event: "send";
  readonly by: string;
  readonly operation: string;
  readonly keyHash: string;
  readonly outcome: keyof typeof METRICS.outboxEvents;
  readonly to: string | undefined;
  readonly traceparent: string | undefined;
  readonly durationMs: number;
  readonly endedAt: number;
  readonly code: string | undefined;
}

/** The events of relay and sweeper (`OutboxEvent`) that are measured. */
export type SendingEvent =
  | SendEvent
  | {
      readonly event: keyof typeof METRICS.outboxEvents;
      readonly by: string;
      readonly operation: string;
      readonly keyHash: string;
      readonly messages: number;
      readonly lagMs: number;
      readonly error?: unknown;
    }
  | {
      readonly event: "backlog";
      readonly by: string;
      readonly waiting: number;
      readonly oldestMs: number;
      readonly parked: number;
    };

/** The events of the reconciler (`ReconcilerEvent`) that are measured. */
export type SettlingEvent =
  | {
      readonly event: keyof typeof METRICS.settlingEvents;
      readonly operation: string;
      readonly keyHash: string;
      readonly unknownMs: number;
      readonly error?: unknown;
    }
  | {
      readonly event: "unsettled";
      readonly keys: number;
      readonly unasked: number;
      readonly oldestMs: number;
    }
  | ({
      readonly event: "cache-checked";
      readonly failed: boolean;
    } & { readonly [found in keyof typeof METRICS.cacheChecks]: number });

export function isSettling(event: Exclude<SendingEvent, SendEvent> | SettlingEvent): event is SettlingEvent {
  const { event: name } = event;
  return name === "unsettled" || name === "cache-checked" || Object.hasOwn(METRICS.settlingEvents, name);
}

export function measureSettling(settling: SettlingEvent): Measured {
  if (settling.event === "unsettled") {
    const { event, keys, unasked, oldestMs } = settling;
    const names = METRICS.unsettled;
    return {
      metrics: [
        { name: names.keys, unit: "Count", value: keys },
        { name: names.unasked, unit: "Count", value: unasked },
        { name: names.oldestMs, unit: "Milliseconds", value: oldestMs },
      ],
      properties: { event, by: "reconciler" },
    };
  }
  if (settling.event === "cache-checked") {
    const { event, failed, ...found } = settling;
    const names = METRICS.cacheChecks;
    const kinds = Object.keys(names) as (keyof typeof names)[];
    return {
      metrics: kinds.map((kind) => ({ name: names[kind], unit: "Count", value: found[kind] })),
      properties: { event, by: "reconciler", failed: `${failed}` },
    };
  }
  const { event, operation, keyHash, unknownMs, error } = settling;
  const isSettled = event === "happened" || event === "did-not-happen";
  return {
    operation: operation === "" ? "unknown" : operationDimension(operation),
    metrics: [
      { name: METRICS.settlingEvents[event], unit: "Count", value: 1 },
      ...(isSettled ? [{ name: METRICS.settlingTime, unit: "Milliseconds", value: unknownMs } as const] : []),
    ],
    properties: { event, by: "reconciler", keyHash, unknownMs, errorName: nameOf(error) },
  };
}

const DURATIONS: Readonly<Partial<Record<DecisionEvent["decision"], string>>> = METRICS.durations;

export function measureDecision(event: DecisionEvent): Measured {
  const { decision, operation, keyHash, attempt, durationMs, ageMs, error } = event;
  const duration = DURATIONS[decision];
  // This message comes from the store, not from the handler: it names table and action, and contains no payload.
  const storeError = decision === "store-failed" && isStoreFailure(error) ? error.message : undefined;
  return {
    operation: operationDimension(operation),
    metrics: [
      { name: METRICS.decisions[decision], unit: "Count", value: 1 },
      ...(duration === undefined
        ? []
        : [{ name: duration, unit: "Milliseconds", value: durationMs } as const]),
      ...(decision === "in-progress" && ageMs !== undefined
        ? [{ name: METRICS.inProgressAge, unit: "Milliseconds", value: ageMs } as const]
        : []),
    ],
    properties: { decision, keyHash, attempt, durationMs, errorName: nameOf(error), storeError },
  };
}

export function measureSending(sending: Exclude<SendingEvent, SendEvent>): Measured {
  if (sending.event === "backlog") return measureBacklog(sending);
  const { event, by, operation, keyHash, messages, lagMs, error } = sending;
  return {
    // It comes from the record's key, in which `#` and `%` are escaped. An unreadable change has none.
    operation: operation === "" ? "unknown" : operation.replace(/^ +$|[^\x20-\x7e]/gu, encodeURIComponent),
    metrics: [
      { name: METRICS.outboxEvents[event], unit: "Count", value: 1 },
      { name: METRICS.outboxLag, unit: "Milliseconds", value: lagMs },
    ],
    properties: { event, by, keyHash, messages, errorName: nameOf(error) },
  };
}

/** Counts all operations together, because waiting commits are counted without being read. */
function measureBacklog({
  event,
  by,
  waiting,
  oldestMs,
  parked,
}: Extract<SendingEvent, { event: "backlog" }>): Measured {
  const names = METRICS.outboxBacklog;
  return {
    metrics: [
      { name: names.waiting, unit: "Count", value: waiting },
      { name: names.oldestMs, unit: "Milliseconds", value: oldestMs },
      { name: names.parked, unit: "Count", value: parked },
    ],
    properties: { event, by },
  };
}

/** A thrown object may be a payload, and its name may be derived from one. */
export function nameOf(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  if (!(error instanceof Error)) return typeof error;
  return /^[\w$.]{1,64}$/.test(error.name) ? error.name : "Error";
}

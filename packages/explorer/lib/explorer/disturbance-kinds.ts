/** The kinds of disturbances, and the requests that each applies to. Pure. */
import { isRead } from "../aws/aws-operation.ts";
import type { Fault } from "../simulator/fault.ts";
import type { Io } from "../simulator/io.ts";

/** How many requests a fault affects, beginning with its point. */
export const FAULT_REACHES = [
  /** Only this attempt. */
  "once",
  /** Every attempt at this request within the invocation. */
  "request",
  /** Every request of the invocation to the same service. */
  "invocation",
] as const;
export type FaultReach = (typeof FAULT_REACHES)[number];

/** When a second delivery comes: with the first, while the first is frozen at the point, or right after the first. */
export type DuplicateTime = "at-once" | "meanwhile" | "right-after";

export interface DisturbanceKind {
  readonly words: string;
  readonly fault: Fault;
  readonly reach?: FaultReach;
  readonly duplicate?: DuplicateTime;
  /** @default - every I/O */
  readonly fits?: (io: Io) => boolean;
}

export interface Durations {
  /** Shorter than any timeout. */
  readonly pauseMs: number;
  /** Longer than the function's timeout. */
  readonly overdueMs: number;
  /** Longer than any lease. */
  readonly absenceMs: number;
}

/** By the name in a disturbance's id. */
export function kindsOf({
  pauseMs,
  overdueMs,
  absenceMs,
}: Durations): Readonly<Record<string, DisturbanceKind>> {
  return {
    "crash-before": { words: "a crash before", fault: { kind: "crash", when: "before" } },
    "crash-after": { words: "a crash after", fault: { kind: "crash", when: "after" }, fits: isWrite },
    unsent: { words: "a broken connection before", fault: { kind: "unsent" }, fits: isWrite },
    "lost-answer": { words: "a lost response to", fault: { kind: "lost-answer" }, fits: isWrite },
    "lost-answers": {
      words: "only lost responses from",
      fault: { kind: "lost-answer" },
      reach: "request",
      fits: (io) => isWrite(io) && io.service !== "http",
    },
    throttle: { words: "throttling of", fault: { kind: "throttle" }, reach: "request" },
    outage: { words: "an outage from", fault: { kind: "unsent" }, reach: "invocation" },
    conflict: {
      words: "a transaction conflict at",
      fault: { kind: "conflict" },
      fits: ({ operation }) => operation === "TransactWriteItems",
    },
    timeout: { words: "a timeout at", fault: { kind: "slow", ms: overdueMs } },
    // The client gives up on this request and sends another: this one arrives when the other is decided.
    "late-copy": {
      words: "a late copy of",
      fault: { kind: "slow", when: "before", ms: overdueMs },
      fits: (io) => isWrite(io) && io.service !== "http",
    },
    stale: { words: "a stale read at", fault: { kind: "stale" }, fits: isEventuallyConsistent },
    "duplicate-before": {
      words: "a duplicate before",
      fault: { kind: "freeze", when: "before", ms: pauseMs },
      duplicate: "meanwhile",
    },
    "duplicate-after": {
      words: "a duplicate after",
      fault: { kind: "freeze", when: "after", ms: pauseMs },
      duplicate: "meanwhile",
      fits: isWrite,
    },
    "zombie-before": {
      words: "a lease that ends before",
      fault: { kind: "freeze", when: "before", ms: absenceMs },
    },
    "zombie-after": {
      words: "a lease that ends after",
      fault: { kind: "freeze", when: "after", ms: absenceMs },
      fits: isWrite,
    },
  };
}

const READS = ["GetItem", "BatchGetItem", "Query", "Scan"];

/** Before or after makes no difference for a read, because it has no effect. */
function isWrite({ operation }: Io): boolean {
  return !isRead(operation);
}

function isEventuallyConsistent({ operation, input }: Io): boolean {
  if (!READS.includes(operation)) return false;
  if (operation !== "BatchGetItem") return input.ConsistentRead !== true;
  return Object.values(Object(input.RequestItems)).some((each) => !Object(each).ConsistentRead);
}

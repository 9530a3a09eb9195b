/** The faults that one I/O can have. */
import { type Check, checkOptions, oneOf } from "onceonly/kit";

export type Fault =
  /**
   * The environment ends for good: before the request is sent, or after it is executed and before its
   * response arrives.
   */
  | { readonly kind: "crash"; readonly when: "before" | "after" }
  /** The request is executed, but the connection breaks before the response arrives. */
  | { readonly kind: "lost-answer" }
  /** The connection breaks before the request arrives. */
  | { readonly kind: "unsent" }
  /**
   * No response ever arrives: the request is lost or, with `after`, it is executed. The caller waits as long as it
   * likes.
   */
  | { readonly kind: "unanswered"; readonly when?: "before" | "after" }
  /** The service throttles the request. */
  | { readonly kind: "throttle" }
  /** The service responds with an error of this name, or over HTTP with this status, and executes nothing. */
  | { readonly kind: "refused"; readonly code: string; readonly status?: number }
  /** The service accepts a batch, but rejects the entries at these indexes, counted from 0. */
  | {
      readonly kind: "refused-entries";
      readonly entries: readonly number[];
      readonly code: string;
      /** @default false */
      readonly senderFault?: boolean;
    }
  /** DynamoDB: another transaction is changing the item. */
  | { readonly kind: "conflict" }
  /** Delays the response or, with `before`, the request itself. */
  | { readonly kind: "slow"; readonly ms: number; readonly when?: "before" | "after" }
  /**
   * The environment is frozen for this time, before the request is sent or after it is executed. Lambda's
   * deadline does not end the freeze: the caller gets a timeout, and the thawed environment is a zombie.
   */
  | { readonly kind: "freeze"; readonly when: "before" | "after"; readonly ms: number }
  /** An eventually consistent read returns its items as they were before their last write. */
  | { readonly kind: "stale" };

export const FAULT_KINDS = [
  "crash",
  "lost-answer",
  "unsent",
  "throttle",
  "conflict",
  "slow",
  "freeze",
  "stale",
  "unanswered",
  "refused",
  "refused-entries",
] as const satisfies readonly Fault["kind"][];

export type FaultKind = Fault["kind"];

const kind = oneOf(...FAULT_KINDS);
const when = oneOf("before", "after");
const ms: Check = [
  "must be a number of milliseconds",
  (value) => typeof value === "number" && value >= 0 && Number.isFinite(value),
];

const aCode: Check = ["must be the name of an error", (value) => typeof value === "string" && value !== ""];
const aStatus: Check = [
  "must be a status from 400 to 599",
  (value) => Number.isInteger(value) && Number(value) >= 400 && Number(value) <= 599,
];
const places: Check = [
  "must be an array of positions in the batch, from 0",
  (value) => Array.isArray(value) && value.every((each) => Number.isInteger(each) && each >= 0),
];

const DETAILS = {
  crash: { required: ["when"], checks: { when } },
  freeze: { required: ["when", "ms"], checks: { when, ms } },
  slow: { required: ["ms"], checks: { when, ms } },
  unanswered: { required: [], checks: { when } },
  refused: { required: ["code"], checks: { code: aCode, status: aStatus } },
  "refused-entries": {
    required: ["entries", "code"],
    checks: { entries: places, code: aCode, senderFault: oneOf(true, false) },
  },
} as const;

/** @throws InvalidOptionError (`INVALID_OPTION`) for an unknown fault */
export function checkShape(fault: Fault): void {
  const details = DETAILS[fault.kind as keyof typeof DETAILS];
  checkOptions(fault, { kind, ...details?.checks }, ["kind", ...(details?.required ?? [])]);
}

/** What can go wrong with one I/O. */
import { type Check, checkOptions, oneOf } from "../core/option-checks.ts";

export type Fault =
  /** The environment ends for good: before the request leaves, or after it is done and before its answer comes. */
  | { readonly kind: "crash"; readonly when: "before" | "after" }
  /** The request is done; instead of its answer the connection breaks. */
  | { readonly kind: "lost-answer" }
  /** The connection breaks before the request arrives. */
  | { readonly kind: "unsent" }
  /** Nobody ever answers: the request is lost on its way, or with `after` it is done. Who asks waits as long as it likes. */
  | { readonly kind: "unanswered"; readonly when?: "before" | "after" }
  /** The service refuses, for now. */
  | { readonly kind: "throttle" }
  /** The service answers with an error of this name, or over HTTP with this status, and does nothing. */
  | { readonly kind: "refused"; readonly code: string; readonly status?: number }
  /** The service takes a batch, but refuses those of its entries that are at these places, counted from 0. */
  | {
      readonly kind: "refused-entries";
      readonly entries: readonly number[];
      readonly code: string;
      /** @default false */
      readonly senderFault?: boolean;
    }
  /** DynamoDB: another transaction is under way on the item. */
  | { readonly kind: "conflict" }
  /** So much later: the answer, or with `before` the request itself. */
  | { readonly kind: "slow"; readonly ms: number; readonly when?: "before" | "after" }
  /**
   * The environment stands still for so long, before the request leaves or after it is done, and then goes on. Lambda's
   * own deadline does not end it: the caller is told of a timeout then, and what goes on later is a zombie.
   */
  | { readonly kind: "freeze"; readonly when: "before" | "after"; readonly ms: number }
  /** An eventually consistent read sees its items as they were before their last write. */
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
  "must be a list of places in the batch, counted from 0",
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

/** @throws InvalidOptionError (`INVALID_OPTION`) for a fault that there is not */
export function checkShape(fault: Fault): void {
  const details = DETAILS[fault.kind as keyof typeof DETAILS];
  checkOptions(fault, { kind, ...details?.checks }, ["kind", ...(details?.required ?? [])]);
}

/** Every kind of engine call that is played: what it finds, how its handler ends, and what goes wrong during it. */
import { type Bounds, type CallKind, hasSteps } from "./bounds.ts";
import type { ModelRecord } from "./state.ts";
import { ME, records, recordsAt, recordsFor } from "./store-cases.ts";

/** `without a look` is `lookFirst: false`, `patient` is `whenInProgress: { waitSeconds: 1 }`. */
export const CALLS = {
  claimed: { mode: "claimed", handler: "commit" },
  "claimed, effects outside": { mode: "claimed", handler: "outside" },
  patient: { mode: "claimed", handler: "commit" },
  optimistic: { mode: "optimistic", handler: "commit" },
  "without a look": { mode: "optimistic", handler: "commit" },
  "fail-open": { mode: "fail-open", handler: "commit" },
  conditional: { mode: "claimed", handler: "conditional" },
  "optimistic, conditional": { mode: "optimistic", handler: "conditional" },
  "fail-open, conditional": { mode: "fail-open", handler: "conditional" },
  holds: { mode: "claimed", handler: "outside" },
  "asks: it happened": { mode: "claimed", handler: "outside" },
  "asks: nothing happened": { mode: "claimed", handler: "outside" },
  "asks: unknown": { mode: "claimed", handler: "outside" },
  steps: { mode: "claimed", handler: "steps" },
  "steps: it happened": { mode: "claimed", handler: "asked steps" },
  "steps: nothing happened": { mode: "claimed", handler: "asked steps" },
  "steps: unknown": { mode: "claimed", handler: "asked steps" },
} as const satisfies Record<string, CallKind>;
type CallName = keyof typeof CALLS;

export const whenAbandonedOf = (call: CallName): Bounds["whenAbandoned"] =>
  call === "holds" ? "hold" : call.startsWith("asks") ? "verify" : undefined;

export type End =
  | "makes its commit"
  | "makes its commit, or else another"
  | "finds the row there, and returns that"
  | "has its effect"
  | "has its effect, then fails"
  | "has its effect, and does not know it"
  | "does its steps"
  | "fails between its steps"
  | "runs its second step, which fails"
  | "runs its second step, which proves that nothing happened"
  | "fails before its effect"
  | "fails for good"
  | "is aborted near its deadline, and works on";

/** All tries of the SDK; the engine may try again. */
export interface Fault {
  /** Which request of the call, from 1. */
  readonly at: number;
  readonly kind: "applied twice" | "applied, no answer" | "not applied" | "held up";
}
/** A request that is held up arrives when the call is over. */
const FAULTS: readonly Fault["kind"][] = ["applied twice", "applied, no answer", "not applied", "held up"];

export interface EngineCase {
  readonly call: CallName;
  readonly record: ModelRecord | undefined;
  readonly end: End;
  /** The row that a conditional commit inserts already exists; another caller deletes it when the call is over. */
  readonly isTaken: boolean;
  readonly fault?: Fault;
  /** The record that others leave while the handler runs, or while the call waits; `null` if they delete it. */
  readonly others?: ModelRecord | null;
}

const endsOf = (call: CallName): readonly End[] =>
  hasSteps(CALLS[call].handler)
    ? [
        "does its steps",
        "fails between its steps",
        "runs its second step, which fails",
        "runs its second step, which proves that nothing happened",
      ]
    : whenAbandonedOf(call)
      ? ["has its effect", "has its effect, and does not know it"]
      : CALLS[call].handler === "outside"
        ? [
            "has its effect",
            "has its effect, then fails",
            "fails for good",
            "is aborted near its deadline, and works on",
          ]
        : CALLS[call].handler === "conditional"
          ? ["makes its commit", "makes its commit, or else another", "finds the row there, and returns that"]
          : ["makes its commit", "fails before its effect", "fails for good"];

/** `requestsOf` returns how many requests a call makes when nothing goes wrong. */
export function* engineCases(
  requestsOf: (each: EngineCase) => number,
  bounds: Pick<Bounds, "senders">,
): Generator<EngineCase> {
  const all = [undefined, ...recordsFor(bounds, records())];
  for (const call of Object.keys(CALLS) as CallName[]) {
    const isStepped = hasSteps(CALLS[call].handler);
    // For payloads and expiry, a commit with a condition and steps behave like the other cases.
    const isShort = CALLS[call].handler === "conditional" || isStepped;
    const found = [
      ...(isShort ? all.filter((each) => !each || (each.payload === 0 && each.expiresIn > 0)) : all),
      ...(isStepped ? recordsWithSteps() : []),
    ];
    for (const end of endsOf(call))
      for (const each of [...inRecords(call, end, found), ...withOthers(call, end, found)]) {
        yield each;
        for (const at of faultyRequests(each, requestsOf(each)))
          for (const kind of FAULTS) yield { ...each, fault: { at, kind } };
      }
  }
}

/** The first step is done, and the second was begun, is done, or is known to have had no effect. */
const recordsWithSteps = (): ModelRecord[] =>
  recordsAt(
    ([undefined, "begun", "done", "undone"] as const).map((second) => ({
      first: "done" as const,
      ...(second && { second }),
    })),
  );

/** Everything before the others' record is the same for each; unless the first claim fails, fail-open is as claimed. */
function faultyRequests({ call, others }: EngineCase, count: number): number[] {
  const all = Array.from({ length: count }, (_, index) => index + 1);
  if (others === undefined) return all;
  return call.startsWith("fail-open") ? [1] : all.slice(1).slice(-1);
}

function inRecords(call: CallName, end: End, found: readonly (ModelRecord | undefined)[]): EngineCase[] {
  // It finds a live claim below; without one it is as any other.
  if (call === "patient") return [];
  // Nothing has been written before a look, or before an insertion.
  const isKept = (record: ModelRecord | undefined) =>
    CALLS[call].mode !== "optimistic" || record?.token !== ME;
  return found
    .filter(isKept)
    .flatMap((record) => rowsOf(call, end).map((isTaken) => ({ call, record, end, isTaken })));
}

function withOthers(call: CallName, end: End, found: readonly (ModelRecord | undefined)[]): EngineCase[] {
  // Its insertion is covered by the optimistic call. After a classification it is like any other run.
  if (call === "without a look" || whenAbandonedOf(call) || hasSteps(CALLS[call].handler)) return [];
  const live = found.find((each) => each && each.token !== ME && each.leaseEndsIn > 0 && each.expiresIn > 0);
  // While a call waits, a lease that ends at this very tick is over before the next one.
  const isKept = (each: ModelRecord | undefined) =>
    each?.state !== "in-progress" ||
    // A token claims once, so no one shortens the lease of the call's own claim.
    ((each.token !== ME || each.leaseEndsIn > 0) &&
      (call !== "patient" || each.leaseEndsIn < 0 || (each.leaseEndsIn > 0 && each.expiresIn <= 0)));
  return found.filter(isKept).flatMap((others) =>
    rowsOf(call, end).map((isTaken) => ({
      call,
      record: call === "patient" ? live : undefined,
      end,
      isTaken,
      others: others ?? null,
    })),
  );
}

function rowsOf(call: CallName, end: End): readonly boolean[] {
  if (CALLS[call].handler !== "conditional") return [false];
  return end === "finds the row there, and returns that" ? [true] : [false, true];
}

export const isPatient = ({ call }: Pick<EngineCase, "call">): boolean => call === "patient";

/** Every kind of call of the engine that is played: what it finds, how its handler ends, and what goes wrong meanwhile. */
import type { CallKind } from "./bounds.ts";
import type { ModelRecord } from "./state.ts";
import { ME, records } from "./store-cases.ts";

/** `without a look` is `lookFirst: false`, `patient` is `whenInProgress: { waitSeconds: 1 }`. */
export const CALLS = {
  claimed: { mode: "claimed", handler: "commit" },
  "claimed, effects outside": { mode: "claimed", handler: "outside" },
  patient: { mode: "claimed", handler: "commit" },
  optimistic: { mode: "optimistic", handler: "commit" },
  "without a look": { mode: "optimistic", handler: "commit" },
  "fail-open": { mode: "fail-open", handler: "commit" },
} as const satisfies Record<string, CallKind>;
type CallName = keyof typeof CALLS;

export type End =
  | "makes its commit"
  | "has its effect"
  | "has its effect, then fails"
  | "fails before its effect"
  | "fails for good"
  | "is aborted near its deadline, and works on";

/** All tries of the SDK; the engine may try again. */
export interface Fault {
  /** Which request of the call, from 1. */
  readonly at: number;
  readonly kind: "applied twice" | "applied, no answer" | "not applied";
}
const FAULTS: readonly Fault["kind"][] = ["applied twice", "applied, no answer", "not applied"];

export interface EngineCase {
  readonly call: CallName;
  readonly record: ModelRecord | undefined;
  readonly end: End;
  readonly fault?: Fault;
  /** The record that others leave while the handler runs, or while the call waits; `null` if they delete it. */
  readonly others?: ModelRecord | null;
}

const endsOf = (call: CallName): readonly End[] =>
  CALLS[call].handler === "outside"
    ? [
        "has its effect",
        "has its effect, then fails",
        "fails for good",
        "is aborted near its deadline, and works on",
      ]
    : ["makes its commit", "fails before its effect", "fails for good"];

/** `requestsOf` says how many requests a call makes when nothing goes wrong. */
export function* engineCases(requestsOf: (each: EngineCase) => number): Generator<EngineCase> {
  const found = [undefined, ...records()];
  for (const call of Object.keys(CALLS) as CallName[])
    for (const end of endsOf(call))
      for (const each of [...inRecords(call, end, found), ...withOthers(call, end, found)]) {
        yield each;
        for (const at of faultyRequests(each, requestsOf(each)))
          for (const kind of FAULTS) yield { ...each, fault: { at, kind } };
      }
}

/** What comes before the others' record does not differ by it; unless the first claim fails, fail-open is as claimed. */
function faultyRequests({ call, others }: EngineCase, count: number): number[] {
  const all = Array.from({ length: count }, (_, index) => index + 1);
  if (others === undefined) return all;
  return call === "fail-open" ? [1] : all.slice(1).slice(-1);
}

function inRecords(call: CallName, end: End, found: readonly (ModelRecord | undefined)[]): EngineCase[] {
  // It finds a live claim below; without one it is as any other.
  if (call === "patient") return [];
  // A look comes before the call has written anything.
  const isKept = (record: ModelRecord | undefined) => call !== "optimistic" || record?.token !== ME;
  return found.filter(isKept).map((record) => ({ call, record, end }));
}

function withOthers(call: CallName, end: End, found: readonly (ModelRecord | undefined)[]): EngineCase[] {
  // What it inserts is what the optimistic call does.
  if (call === "without a look") return [];
  const live = found.find((each) => each && each.token !== ME && each.leaseEndsIn > 0 && each.expiresIn > 0);
  // While a call waits, a lease that ends at this very tick is over before the next one.
  const isKept = (each: ModelRecord | undefined) =>
    call !== "patient" || each?.state !== "in-progress" || each.leaseEndsIn !== 0;
  return found
    .filter(isKept)
    .map((others) => ({ call, record: call === "patient" ? live : undefined, end, others: others ?? null }));
}

export const isPatient = ({ call }: Pick<EngineCase, "call">): boolean => call === "patient";

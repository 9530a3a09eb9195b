/** Every kind of record that the model tells apart, every request to it, and what the model's store says comes of it. */
import { STATES } from "../../lib/core/record.ts";
import { Watch } from "./invariants.ts";
import { type Begin, claim, type Finish, insert, mark, settle } from "./model-store.ts";
import { isUnsent, type ModelRecord, NEVER, NO_HISTORY, NO_TOKEN, type Slot, type Token } from "./state.ts";
import { SMALLEST } from "./suites.ts";

export type StoreRequest =
  | { readonly kind: "claim"; readonly begin: Begin }
  | { readonly kind: "settle"; readonly finish: Finish }
  | { readonly kind: "insert"; readonly begin: Begin; readonly finish: Finish }
  | { readonly kind: "mark"; readonly token: Token };

/** Requests to one record: at most one of them, the last, changes it. */
export interface StoreCase {
  readonly record: ModelRecord | undefined;
  readonly requests: readonly StoreRequest[];
  readonly expected: {
    readonly record: ModelRecord | undefined;
    /** Whether each is answered as won, settled or found. */
    readonly done: readonly boolean[];
    readonly moves: readonly string[];
  };
}

/** Who asks, who else there is, and one that no record carries. */
const ME: Token = 1;
const THEY: Token = 2;
const STRANGER: Token = 3;

const LATER = 9;

const MODEL = { ...SMALLEST, senders: 1 };

export function storeCases(): StoreCase[] {
  return [undefined, ...records()].flatMap((record) => {
    const decided = requestsTo(record).map((request) => ({ request, ...decide(record, request) }));
    const idle = decided.filter(({ after }) => after === record);
    const changes = decided.filter(({ after }) => after !== record);
    return [idle, ...changes.map((change) => [change])].map((group) => ({
      record,
      requests: group.map(({ request }) => request),
      expected: {
        record: group.at(-1)?.after,
        done: group.map(({ isDone }) => isDone),
        moves: group.flatMap(({ moves }) => moves),
      },
    }));
  });
}

/** Lease and expiry are over, at their last or first tick, or ahead. */
function records(): ModelRecord[] {
  const found: ModelRecord[] = [];
  for (const state of STATES)
    for (const token of [ME, THEY])
      for (const payload of [0, 1])
        for (const leaseEndsIn of state === "in-progress" ? [-1, 0, LATER] : [0])
          for (const expiresIn of [0, 1]) {
            const result = state === "completed" || state === "failed" ? token : NO_TOKEN;
            const times = { leaseEndsIn, expiresIn, expiresOnceSentIn: NEVER };
            found.push({ state, token, payload, result, ...times });
            if (state === "completed")
              found.push({ state, token, payload, result, ...times, ...waiting(expiresIn) });
          }
  return found;
}

const waiting = (expiresIn: number) => ({ expiresIn: NEVER, expiresOnceSentIn: expiresIn });

function requestsTo(record: ModelRecord | undefined): StoreRequest[] {
  const begin = { token: ME, payload: 0, now: 0, seen: NO_TOKEN, leaseEndsIn: LATER, expiresIn: LATER };
  const finish = (to: Finish["to"], commits = false) => ({
    token: ME,
    to,
    commits,
    expiresIn: LATER,
    protectedFor: 0,
  });
  // Nobody sees an own record as an expired one: "own" is read first.
  const seen = [NO_TOKEN, STRANGER, ...(record?.token === THEY ? [THEY] : [])];
  return [
    ...seen.flatMap((token): StoreRequest[] => [
      { kind: "claim", begin: { ...begin, seen: token } },
      { kind: "insert", begin: { ...begin, seen: token }, finish: finish("completed", true) },
    ]),
    { kind: "insert", begin, finish: finish("failed") },
    { kind: "settle", finish: finish("completed", true) },
    ...(["completed", "failed", "released", "held"] as const).map(
      (to): StoreRequest => ({ kind: "settle", finish: finish(to) }),
    ),
    ...(record && isUnsent(record)
      ? [record.token, STRANGER].map((token): StoreRequest => ({ kind: "mark", token }))
      : []),
  ];
}

function decide(record: ModelRecord | undefined, request: StoreRequest) {
  const watch = new Watch();
  const [{ record: after }, isDone] = applied({ record, history: NO_HISTORY }, request, watch);
  return { after, isDone, moves: watch.moves };
}

function applied(slot: Slot, request: StoreRequest, watch: Watch): [Slot, boolean] {
  if (request.kind === "claim") return claim(slot, request.begin, MODEL, watch);
  if (request.kind === "settle") return settle(slot, request.finish, MODEL, watch);
  if (request.kind === "insert") return insert(slot, request.begin, request.finish, MODEL, watch);
  return [mark(slot, request.token, MODEL, watch), true];
}

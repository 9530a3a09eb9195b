/** Every kind of record that the model tells apart, every request to it, and what the model's store says comes of it. */
import { STATES } from "../../lib/core/record.ts";
import { Watch } from "./invariants.ts";
import { type Begin, claim, type Finish, insert, mark, settle } from "./model-store.ts";
import {
  isUnsent,
  type ModelRecord,
  NEVER,
  NO_HISTORY,
  NO_TOKEN,
  type Slot,
  type Ticks,
  type Token,
} from "./state.ts";
import { SMALLEST } from "./suites.ts";

export type StoreRequest =
  | { readonly kind: "claim"; readonly begin: Begin }
  | { readonly kind: "settle"; readonly finish: Finish }
  | { readonly kind: "insert"; readonly begin: Begin; readonly finish: Finish }
  | { readonly kind: "mark"; readonly token: Token };

/** Won, settled, or found; or the token of the record that refused, which comes with the refusal. */
export type Answer = "done" | Token;

/** Requests to one record: at most one of them, the last, changes it. */
export interface StoreCase {
  readonly record: ModelRecord | undefined;
  readonly requests: readonly StoreRequest[];
  readonly expected: {
    readonly record: ModelRecord | undefined;
    readonly answers: readonly Answer[];
    readonly moves: readonly string[];
  };
}

/** Who asks, who else there is, and one that no record carries. */
export const ME: Token = 1;
const THEY: Token = 2;
const STRANGER: Token = 3;

const LATER: Ticks = 9;

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
        answers: group.map(({ answer }) => answer),
        moves: group.flatMap(({ moves }) => moves),
      },
    }));
  });
}

/** Lease and expiry are over, at their last or first tick, or ahead. */
export function records(): ModelRecord[] {
  const found: ModelRecord[] = [];
  for (const state of STATES)
    for (const token of [ME, THEY])
      for (const payload of [0, 1])
        for (const leaseEndsIn of state === "in-progress" ? [-1, 0, LATER] : [0])
          for (const expiresIn of [0, 1]) {
            const result = state === "completed" || state === "failed" ? token : NO_TOKEN;
            const times = { leaseEndsIn, expiresIn, expiresOnceSentIn: NEVER };
            const record = { state, token, attempt: 1, payload, result, ...times };
            found.push(record);
            if (state === "completed") found.push({ ...record, ...waiting(expiresIn) });
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
  const insertions = seen.map(
    (token): StoreRequest => ({
      kind: "insert",
      begin: { ...begin, seen: token },
      finish: finish("completed", true),
    }),
  );
  return [
    ...seen.map((token): StoreRequest => ({ kind: "claim", begin: { ...begin, seen: token } })),
    ...(isOwnToTakeOver(record)
      ? []
      : [...insertions, { kind: "insert", begin, finish: finish("failed") } as const]),
    { kind: "settle", finish: finish("completed", true) },
    ...(["completed", "failed", "released", "held"] as const).map(
      (to): StoreRequest => ({ kind: "settle", finish: finish(to) }),
    ),
    ...(record && isUnsent(record)
      ? [record.token, STRANGER].map((token): StoreRequest => ({ kind: "mark", token }))
      : []),
  ];
}

/** Over one's own claim whose lease has ended, stores may count an insertion as another attempt or not. */
const isOwnToTakeOver = (record: ModelRecord | undefined) =>
  record?.token === ME && record.payload === 0 && record.leaseEndsIn < 0 && record.expiresIn > 0;

function decide(record: ModelRecord | undefined, request: StoreRequest) {
  const watch = new Watch();
  const [{ record: after }, isDone] = applied({ record, history: NO_HISTORY }, request, watch);
  const answer: Answer = isDone ? "done" : (record?.token ?? NO_TOKEN);
  return { after, answer, moves: watch.moves };
}

function applied(slot: Slot, request: StoreRequest, watch: Watch): [Slot, boolean] {
  if (request.kind === "claim") return claim(slot, request.begin, MODEL, watch);
  if (request.kind === "settle") return settle(slot, request.finish, MODEL, watch);
  if (request.kind === "insert") return insert(slot, request.begin, request.finish, MODEL, watch);
  return [mark(slot, request.token, MODEL, watch), true];
}

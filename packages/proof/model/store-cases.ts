/** Every kind of record that the model distinguishes, every request to it, and the result in the model's store. */
import { STATES } from "../../../lib/core/record.ts";
import type { Model } from "./bounds.ts";
import { Watch } from "./invariants.ts";
import { type Mark, type MarkName, NO_MARKS, type StepWrite } from "./marks.ts";
import {
  type Begin,
  claim,
  type Finish,
  insert,
  isVacant,
  mark,
  type Renew,
  renew,
  settle,
} from "./model-store.ts";
import {
  isUnsent,
  type ModelRecord,
  NEVER,
  NO_HISTORY,
  NO_TOKEN,
  type Seen,
  type Slot,
  seenOf,
  type Ticks,
  type Token,
} from "./state.ts";
import type { StoreAnswer } from "./step-store.ts";
import { writeStep } from "./step-store.ts";
import { SMALLEST } from "./suites.ts";

export type StoreRequest =
  | { readonly kind: "claim"; readonly begin: Begin }
  | { readonly kind: "settle"; readonly finish: Finish }
  | { readonly kind: "renew"; readonly renewal: Renew }
  | { readonly kind: "insert"; readonly begin: Begin; readonly finish: Finish }
  | { readonly kind: "mark"; readonly token: Token }
  | { readonly kind: "step"; readonly name: MarkName; readonly write: StepWrite };

/** Won, settled, or found; the row refused; or the token of the record that refused, which comes with the refusal. */
export type Answer = "done" | "condition" | Token;

/** Requests to one record: at most one of them, the last, changes it. */
export interface StoreCase {
  readonly record: ModelRecord | undefined;
  /** The row is there that conditional commits insert. */
  readonly isTaken: boolean;
  readonly requests: readonly StoreRequest[];
  readonly expected: {
    readonly isTaken: boolean;
    readonly record: ModelRecord | undefined;
    readonly answers: readonly Answer[];
    readonly moves: readonly string[];
  };
}

/** Who asks, who else there is, and one that no record carries. */
export const ME: Token = 1;
const THEY: Token = 2;
const STRANGER: Token = 3;
/** Tokens of fences: from here on. */
export const FENCE: Token = 11;

const LATER: Ticks = 9;

const MODEL = { ...SMALLEST, senders: 1 };

/** A store without an outbox has no senders: no messages wait in its records. */
export function storeCases({ senders }: Pick<Model, "senders"> = MODEL): StoreCase[] {
  const model = { ...MODEL, senders };
  const found = [undefined, ...recordsFor(model, records()), ...recordsWithSteps()];
  return [false, true].flatMap((isTaken) => found.flatMap((record) => casesOf(record, isTaken, model)));
}

export const recordsFor = (
  { senders }: Pick<Model, "senders">,
  found: readonly ModelRecord[],
): readonly ModelRecord[] => (senders > 0 ? found : found.filter((record) => !isUnsent(record)));

function casesOf(record: ModelRecord | undefined, isTaken: boolean, model: Model): StoreCase[] {
  // The row makes a difference to conditional commits only.
  const requests = requestsTo(record).filter((request) => !isTaken || isConditional(request));
  const decided = requests.map((request) => ({ request, ...decide(record, isTaken, request, model) }));
  const isIdle = ({ after }: (typeof decided)[number]) => after.record === record;
  const groups = [decided.filter(isIdle), ...decided.filter((each) => !isIdle(each)).map((each) => [each])];
  return groups.map((group) => ({
    record,
    isTaken,
    requests: group.map(({ request }) => request),
    expected: {
      record: group.length > 0 ? group.at(-1)?.after.record : record,
      isTaken: group.at(-1)?.after.isTaken ?? isTaken,
      answers: group.map(({ answer }) => answer),
      moves: group.flatMap(({ moves }) => moves),
    },
  }));
}

const isConditional = (request: StoreRequest) =>
  "finish" in request && request.finish.commits === "conditional";

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
            const steps = { marks: NO_MARKS, writes: 0 };
            const record = { state, token, attempt: 1, payload, result, ...times, ...steps };
            found.push(record);
            if (state === "completed") found.push({ ...record, ...waiting(expiresIn) });
          }
  return found;
}

/** With a step that was begun, done, or is known to have had no effect. */
const recordsWithSteps = () => recordsAt((["begun", "done", "undone"] as const).map((first) => ({ first })));

/** With steps in these states; all that is done with them is by the payload of the record. */
export function recordsAt(steps: readonly Partial<Record<MarkName, Mark["state"]>>[]): ModelRecord[] {
  return records()
    .filter(({ state, payload, expiresIn }) => OPEN.includes(state) && payload === 0 && expiresIn > 0)
    .flatMap((record) =>
      steps.map((states): ModelRecord => {
        const found = Object.entries(states).map(([name, state], at) => [
          name,
          stepMark(state, record.token, at + 1),
        ]);
        const isUnending = record.state === "in-progress" && Object.values(states).includes("begun");
        const expiresIn = isUnending ? NEVER : record.expiresIn;
        return { ...record, marks: Object.fromEntries(found), writes: found.length, expiresIn };
      }),
    );
}

const OPEN: readonly ModelRecord["state"][] = ["in-progress", "released", "held"];

const stepMark = (state: Mark["state"], attempt: Token, at: number): Mark => ({
  state,
  attempt,
  at,
  count: 0,
});

/** The step that is there is written over, over something else, and once more; another one is written too. */
function stepsTo({ marks }: ModelRecord): StoreRequest[] {
  const { first } = marks;
  const step = (name: MarkName, mark: Mark, seen?: Mark): StoreRequest => ({
    kind: "step",
    name,
    write: { mark, seen },
  });
  return [
    ...(["begun", "done", "undone"] as const).flatMap((state) => [
      step("first", stepMark(state, ME, 2), first),
      step("first", stepMark(state, ME, 2), first ? { ...first, at: 7 } : stepMark("begun", ME, 1)),
      step("second", stepMark(state, ME, 2)),
    ]),
    ...(first ? [step("first", first), step("first", stepMark("done", ME, 2))] : []),
  ];
}

const waiting = (expiresIn: number) => ({ expiresIn: NEVER, expiresOnceSentIn: expiresIn });

function requestsTo(record: ModelRecord | undefined): StoreRequest[] {
  const begin = {
    token: ME,
    payload: 0,
    now: 0,
    seen: undefined,
    isSameAttempt: false,
    leaseEndsIn: LATER,
    expiresIn: LATER,
  };
  const finish = (to: Finish["to"], commits: Finish["commits"] = false): Finish => ({
    token: ME,
    to,
    commits,
    expiresIn: LATER,
    protectedFor: 0,
  });
  const seen = seenBefore(record);
  const claims: Begin[] = seen.map((each) => ({ ...begin, seen: each }));
  if (record?.token === ME && record.state === "in-progress")
    claims.push({ ...begin, token: STRANGER, seen: seenOf(record, 0), isSameAttempt: true });
  // To ask about it once more, or to resolve it.
  if (record?.token === THEY && record.state === "held" && record.expiresIn > 0)
    claims.push({ ...begin, seen: seenOf(record, 0) });
  return [
    ...claims.map((each): StoreRequest => ({ kind: "claim", begin: each })),
    // A record with steps is ended under a claim.
    ...(record && record.marks !== NO_MARKS ? [] : seen.slice(0, 3)).flatMap((each) =>
      [finish("completed", "commit"), finish("completed", "conditional"), finish("failed")].map(
        (end): StoreRequest => ({ kind: "insert", begin: { ...begin, seen: each }, finish: end }),
      ),
    ),
    ...[finish("completed", "commit"), finish("completed", "conditional")].map(
      (end): StoreRequest => ({ kind: "settle", finish: end }),
    ),
    ...(["completed", "failed", "released", "held"] as const).map(
      (to): StoreRequest => ({ kind: "settle", finish: finish(to) }),
    ),
    ...[0, LATER].flatMap((leaseEndsIn) =>
      [LATER, NEVER].map(
        (expiresIn): StoreRequest => ({ kind: "renew", renewal: { token: ME, leaseEndsIn, expiresIn } }),
      ),
    ),
    ...(record ? stepsTo(record) : []),
    ...(record && isUnsent(record)
      ? [record.token, STRANGER].map((token): StoreRequest => ({ kind: "mark", token }))
      : []),
  ];
}

/** Nothing; the record as it is, if it may be taken over; or one that differs from that in one of the compared fields. */
function seenBefore(record: ModelRecord | undefined): (Seen | undefined)[] {
  const stranger = {
    token: STRANGER,
    state: "released",
    leaseEndsIn: 0,
    attempt: 1,
    isExpired: false,
    marks: NO_MARKS,
    writes: 0,
  } as const;
  if (record?.token !== THEY) return [undefined, stranger];
  const seen = seenOf(record, 0);
  const others: Seen[] = [
    { ...seen, token: STRANGER },
    { ...seen, state: seen.state === "in-progress" ? "released" : "in-progress" },
    { ...seen, leaseEndsIn: seen.leaseEndsIn - 1 },
    ...(seen.writes > 0 ? [{ ...seen, writes: seen.writes - 1 }] : []),
  ];
  const mayReplace = isVacant(record, { token: ME, payload: 0, now: 0 }, MODEL);
  return [undefined, ...(mayReplace ? [seen] : []), ...others];
}

function decide(record: ModelRecord | undefined, isTaken: boolean, request: StoreRequest, model: Model) {
  const watch = new Watch();
  const before = { record, isTaken, history: { ...NO_HISTORY, attempts: record?.attempt ?? 0 } };
  const [after, said] = applied(before, request, model, watch);
  const answer: Answer = said === "refused" ? (record?.token ?? NO_TOKEN) : said;
  return { after, answer, moves: watch.moves };
}

function applied(slot: Slot, request: StoreRequest, model: Model, watch: Watch): [Slot, StoreAnswer] {
  if (request.kind === "claim") return claim(slot, request.begin, model, watch);
  if (request.kind === "settle") return settle(slot, request.finish, model, watch);
  if (request.kind === "renew") return renew(slot, request.renewal, model, watch);
  if (request.kind === "step")
    return writeStep(slot, { token: ME, name: request.name, ...request.write }, model, watch);
  if (request.kind === "insert") return insert(slot, request.begin, request.finish, model, watch);
  return [mark(slot, request.token, model, watch), "done"];
}

/** Plays the same call in the model, step by step: what the real engine should have done. */
import { hasSteps, type Model } from "./bounds.ts";
import { CALLS, type EngineCase, isPatient, whenAbandonedOf } from "./engine-cases.ts";
import { BOUNDS, type Played, withStates } from "./engine-play.ts";
import { nameOf } from "./requests.ts";
import {
  initialState,
  type ModelRecord,
  type ModelState,
  NEVER,
  NO_HISTORY,
  NO_TOKEN,
  type Slot,
  type Token,
  type Worker,
  withWorker,
} from "./state.ts";
import { stepsFrom } from "./steps.ts";
import { FENCE, ME } from "./store-cases.ts";
import { visible } from "./store-play.ts";

const slotOf = (record: ModelRecord | undefined, isTaken: boolean, ran = false): Slot => ({
  record,
  isTaken,
  history: { ...NO_HISTORY, attempts: record?.attempt ?? 0, ran },
});

/** @param senders none if the store has no outbox */
export function playModel(each: EngineCase, { senders }: Pick<Model, "senders">): Played {
  const { call, end, fault, others } = each;
  const whenAbandoned = whenAbandonedOf(call);
  const model: Model = { ...BOUNDS, senders, calls: [CALLS[call]], strays: 1, whenAbandoned };
  const happened = call.endsWith("it happened");
  const before = slotOf(each.record, each.isTaken, happened);
  const effects = ["none", happened ? "done" : "none"] as const;
  const slot = { ...before, history: { ...before.history, effects } };
  let state: ModelState = { ...initialState(model), slots: [slot] };
  const requests: string[] = [];
  let fencingNumber: number | undefined;
  let answersItself = false;
  let fences = 0;
  let ticks = 0;

  const worker = () => state.workers[0] as Worker;
  const record = () => state.slots[0]?.record;
  const leaveToOthers = () => {
    state = { ...state, slots: [slotOf(others ?? undefined, each.isTaken)] };
  };
  /** Performs the step with this name, if it is possible. */
  const take = (...names: string[]) => {
    const steps = stepsFrom(state, model);
    const step = names.flatMap((name) => steps.find(({ label }) => label === `worker 1 ${name}`) ?? [])[0];
    if (!step) return false;
    state = step.next;
    answersItself ||= step.answersItself;
    const { token, phase } = worker();
    if (phase !== "idle" && token < FENCE && token !== ME)
      state = withWorker(state, 0, { ...worker(), token: FENCE + fences++ });
    return true;
  };
  const passTick = () => {
    ticks++;
    state = stepsFrom(state, model).at(-1)?.next as ModelState;
  };
  const isFaulty = () => fault?.at === requests.length && fault.kind !== "applied twice";

  const runSteps = () => {
    const { step, marks } = worker();
    if (fencingNumber === undefined) {
      fencingNumber = record()?.attempt;
      passTick();
    }
    if (step === "second") {
      take(end === "does its steps" ? "runs its second step" : end);
      answersItself ||= end === "runs its second step, which fails";
    } else if (marks.first?.state !== "done") take("runs its first step");
    else if (end === "fails between its steps") answersItself = take(end);
    else if (wasProven) take("fails between its steps");
    else take("returns", CLAIM_STATUSES[call] ?? "", "writes down that its second step begins");
    wasProven ||= step === "second" && end.endsWith("nothing happened");
  };
  let wasProven = false;
  const runHandler = () => {
    if (hasSteps(worker().handler)) {
      runSteps();
      return;
    }
    if (worker().wasRefused) {
      take(end.endsWith("or else another") ? "makes another commit, without a condition" : FAILS);
      return;
    }
    fencingNumber = worker().mode === "claimed" ? record()?.attempt : undefined;
    if (others !== undefined && !isPatient(each)) leaveToOthers();
    else passTick();
    while (end.startsWith("is aborted") && worker().left > 0) passTick();
    take(end.startsWith("makes its commit") ? "makes its commit" : end);
  };
  const check = () => {
    requests.push("find");
    if (!isFaulty()) take("looks before its answer counts");
    // A look after an abort is not repeated.
    else if (worker().mode === "claimed") take("cannot reach the store, and gives its own answer", STOPS);
  };
  const look = () => {
    if (call !== "without a look") requests.push("find");
    if (call !== "without a look" && isFaulty()) take(STOPS);
    else take(...(call === "without a look" ? [] : ["looks"]), BLIND);
  };
  const request = () => {
    const { phase } = worker();
    const name = nameOf(worker());
    requests.push(REQUESTS[phase] ?? phase);
    const kind = fault?.at === requests.length ? fault.kind : undefined;
    if (kind === "applied twice" || kind === "applied, no answer") take(`${name}; the answer is lost`);
    if (kind === "held up") take(`${name}; a copy is held up`);
    if (kind === "not applied") noteTry();
    if (!isFaulty()) return (isPatient(each) && requests.length === 1 && wait()) || take(name);
    // All but the first request are repeated.
    return phase !== "claim" || take("cannot reach the store, and runs all the same", STOPS);
  };
  /** A try that changed nothing: in the model that isn't a step. */
  const noteTry = () => {
    const { phase, handler, to } = worker();
    const isCommit = (phase === "settle" || phase === "insert") && to === "completed";
    if (isCommit && handler === "conditional")
      state = withWorker(state, 0, { ...worker(), isRepeated: true });
  };
  const wait = () => {
    if (!take("claims, is refused, and waits for the winner")) return false;
    requests.push("find");
    leaveToOthers();
    if (isFaulty()) return take(STOPS);
    // The poll has read what the model's worker learns from a refused claim.
    return record() === undefined || take("claims");
  };

  state = stepsFrom(state, model).find(({ label }) => label.startsWith("worker 1 is called"))
    ?.next as ModelState;
  state = withWorker(state, 0, { ...worker(), token: ME });
  for (let steps = 0; worker().phase !== "idle"; steps++) {
    if (steps > 20) throw new Error(`the call does not end: ${JSON.stringify(each)}`);
    const { phase } = worker();
    if (phase === "run") runHandler();
    else if (phase === "check") check();
    else if (phase === "look") look();
    else if (phase === "orphan") take(STOPS);
    else if (phase === "verify") take(CLAIM_STATUSES[call] as string);
    else request();
  }
  const last = state.slots[0] as Slot;
  const { firstAnswer } = last.history;
  state = { ...state, slots: [{ ...last, isTaken: false }] };
  const arrival = stepsFrom(state, model).find(({ label }) => label.startsWith("a copy that was held up"));
  if (arrival) state = arrival.next;
  const answer = firstAnswer === NO_TOKEN && answersItself ? "own end" : mine(firstAnswer);
  return { requests, answer, fencingNumber, record: later(withStates(visible(record())), ticks) };
}

/** A handler's result is the same under its call's token and under that of a fence. */
const mine = (token: Token) => (token >= FENCE && token !== NEVER ? ME : token);

const REQUESTS: Partial<Record<Worker["phase"], string>> = { fence: "claim", mark: "writeStep" };
const FAILS = "fails before its effect";
const STOPS = "stops: it crashes, is killed, or gives up";
const CLAIM_STATUSES: Partial<Record<EngineCase["call"], string>> = {
  holds: "holds the key",
  "asks: it happened": "asks, and the effect happened",
  "asks: nothing happened": "asks, and nothing happened",
  "asks: unknown": "asks, and the outcome is unknown",
  steps: "holds the key, as no system can be asked",
  "steps: it happened": "asks about its second step, and it happened",
  "steps: nothing happened": "asks about its second step, and nothing happened",
  "steps: unknown": "asks about its second step, and the outcome is unknown",
};
const BLIND = "looks, and sees no record: there is none, the read is stale, or it does not look";

/** Times from when the call began. */
function later<Times extends { leaseEndsIn: number; expiresIn: number; state: string; result: Token }>(
  record: Times | undefined,
  ticks: number,
): Times | undefined {
  return (
    record && {
      ...record,
      result: mine(record.result),
      leaseEndsIn: record.state === "in-progress" ? record.leaseEndsIn + ticks : record.leaseEndsIn,
      expiresIn: record.expiresIn === NEVER ? NEVER : record.expiresIn + ticks,
    }
  );
}

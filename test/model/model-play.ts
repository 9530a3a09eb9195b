/** Plays the same call in the model, step by step: what the real engine should have done. */
import type { Model } from "./bounds.ts";
import { CALLS, type EngineCase, isPatient } from "./engine-cases.ts";
import { BOUNDS, type Played } from "./engine-play.ts";
import { nameOf } from "./requests.ts";
import {
  initialState,
  type ModelRecord,
  type ModelState,
  NEVER,
  NO_HISTORY,
  type Worker,
  withWorker,
} from "./state.ts";
import { stepsFrom } from "./steps.ts";
import { ME } from "./store-cases.ts";
import { visible } from "./store-play.ts";

const slotOf = (record: ModelRecord | undefined) => ({
  record,
  history: { ...NO_HISTORY, attempts: record?.attempt ?? 0 },
});

export function playModel(each: EngineCase): Played {
  const { call, end, fault, others } = each;
  const model: Model = { ...BOUNDS, calls: [CALLS[call]] };
  let state: ModelState = { ...initialState(model), slots: [slotOf(each.record)] };
  const requests: string[] = [];
  let fencingNumber: number | undefined;
  let ticks = 0;

  const worker = () => state.workers[0] as Worker;
  const record = () => state.slots[0]?.record;
  const leaveToOthers = () => {
    state = { ...state, slots: [slotOf(others ?? undefined)] };
  };
  /** Takes the step of this name, if it is offered. */
  const take = (...names: string[]) => {
    const steps = stepsFrom(state, model);
    const step = names.flatMap((name) => steps.find(({ label }) => label === `worker 1 ${name}`) ?? [])[0];
    if (step) state = step.next;
    return step !== undefined;
  };
  const passTick = () => {
    ticks++;
    state = stepsFrom(state, model).at(-1)?.next as ModelState;
  };
  const isFaulty = () => fault?.at === requests.length && fault.kind !== "applied twice";

  const runHandler = () => {
    fencingNumber = worker().mode === "claimed" ? record()?.attempt : 1;
    if (others !== undefined && !isPatient(each)) leaveToOthers();
    else passTick();
    while (end.startsWith("is aborted") && worker().left > 0) passTick();
    // Without a claim there is nothing to release.
    take(end, STOPS);
  };
  const look = () => {
    if (call !== "without a look") requests.push("find");
    if (call !== "without a look" && isFaulty()) take(STOPS);
    else take(...(call === "without a look" ? [] : ["looks"]), BLIND);
  };
  const request = () => {
    const { phase } = worker();
    const name = nameOf(worker());
    requests.push(phase);
    if (fault?.at === requests.length && fault.kind !== "not applied") take(`${name}; the answer is lost`);
    if (!isFaulty()) return (isPatient(each) && requests.length === 1 && wait()) || take(name);
    // Settlements and insertions are repeated.
    return phase !== "claim" || take("cannot reach the store, and runs all the same", STOPS);
  };
  const wait = () => {
    const seen = record()?.token;
    if (!take("claims, is refused, and waits for the winner")) return false;
    requests.push("find");
    leaveToOthers();
    const isUnmoved = record()?.state === "in-progress" && record()?.token === seen;
    return isUnmoved || isFaulty() ? take(STOPS) : true;
  };

  state = stepsFrom(state, model).find(({ label }) => label.startsWith("worker 1 is called"))
    ?.next as ModelState;
  state = withWorker(state, 0, { ...worker(), token: ME });
  for (let steps = 0; worker().phase !== "idle"; steps++) {
    if (steps > 20) throw new Error(`the call does not end: ${JSON.stringify(each)}`);
    const { phase } = worker();
    if (phase === "run") runHandler();
    else if (phase === "look") look();
    else if (phase === "orphan") take(STOPS);
    else request();
  }
  const answer = state.slots[0]?.history.firstAnswer as number;
  return { requests, answer, fencingNumber, record: later(visible(record()), ticks) };
}

const STOPS = "stops: it crashes, is killed, or gives up";
const BLIND = "looks, and sees no record: there is none, the read is stale, or it does not look";

/** Times from when the call began. */
function later<Times extends { leaseEndsIn: number; expiresIn: number; state: string }>(
  record: Times | undefined,
  ticks: number,
): Times | undefined {
  return (
    record && {
      ...record,
      leaseEndsIn: record.state === "in-progress" ? record.leaseEndsIn + ticks : record.leaseEndsIn,
      expiresIn: record.expiresIn === NEVER ? NEVER : record.expiresIn + ticks,
    }
  );
}

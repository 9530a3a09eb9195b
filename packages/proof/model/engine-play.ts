/** Plays a call of the real engine, over a real store: its requests, its response, and the state after it. */
import { randomUUID } from "node:crypto";
import type { Clock } from "../../../lib/core/clock.ts";
import { perform } from "../../../lib/core/engine.ts";
import { hasCode } from "../../../lib/core/error-code.ts";
import {
  OutcomeUnknownError,
  PermanentError,
  type TransactionConditionError,
} from "../../../lib/core/errors.ts";
import type { Execution } from "../../../lib/core/execution.ts";
import { identify } from "../../../lib/core/identity.ts";
import type { EngineOptions } from "../../../lib/core/options.ts";
import { resultOf } from "../../../lib/core/outcome.ts";
import { resolveOptions } from "../../../lib/core/resolved-options.ts";
import type { Verification } from "../../../lib/core/verify.ts";
import { fakeClock } from "../../../lib/testing/index.ts";
import { type Intercept, intercepted, unreachable } from "../../../test/kit/faults/faulty-store.ts";
import { type Bounds, hasSteps } from "./bounds.ts";
import { CALLS, type EngineCase, isPatient } from "./engine-cases.ts";
import { RequestsUnderWay } from "./requests-under-way.ts";
import { NO_TOKEN, type Token } from "./state.ts";
import { FENCE, ME } from "./store-cases.ts";
import { make, NOW, numberIn, type Ports, read, tokenOf, type VisibleRecord } from "./store-play.ts";
import { SMALLEST } from "./suites.ts";

export interface Played {
  /** Polls count as one. */
  readonly requests: readonly string[];
  /** The attempt that recorded what the caller gets, or the handler's own end; no token means one of our errors. */
  readonly answer: Token | "own end";
  /** The fencing number that its handler gets, if that runs. */
  readonly fencingNumber: number | undefined;
  readonly record: (Omit<VisibleRecord, "marks"> & { readonly marks: readonly string[] }) | undefined;
}

export const BOUNDS: Bounds = { ...SMALLEST, workTicks: 2, graceTicks: 1, senders: 1 };

const OPTIONS: Record<EngineCase["call"], Partial<EngineOptions<never>>> = {
  claimed: {},
  "claimed, effects outside": {},
  patient: { whenInProgress: { waitSeconds: 1 } },
  optimistic: { mode: "optimistic" },
  "without a look": { mode: "optimistic", lookFirst: false },
  "fail-open": { whenStoreFails: "run" },
  conditional: {},
  "optimistic, conditional": { mode: "optimistic" },
  "fail-open, conditional": { whenStoreFails: "run" },
  holds: { whenAbandoned: "hold" },
  "asks: it happened": { whenAbandoned: () => ({ outcome: "happened", result: tokenOf(ME) }) },
  "asks: nothing happened": { whenAbandoned: () => ({ outcome: "did-not-happen" }) },
  "asks: unknown": { whenAbandoned: () => ({ outcome: "unknown" }) },
  steps: {},
  "steps: it happened": {},
  "steps: nothing happened": {},
  "steps: unknown": {},
};

const VERIFY: Partial<Record<EngineCase["call"], () => Verification>> = {
  "steps: it happened": () => ({ outcome: "happened", result: 2 }),
  "steps: nothing happened": () => ({ outcome: "did-not-happen" }),
  "steps: unknown": () => ({ outcome: "unknown" }),
};

const OWN = "the handler's own end";

const MESSAGE = {
  queue: "https://sqs.us-east-1.amazonaws.com/000000000000/orders",
  key: "order-1",
  body: "{}",
};

export async function playEngine<Write>(ports: Ports<Write>, each: EngineCase): Promise<Played> {
  const { call, record, end, fault, others, isTaken } = each;
  const { store, outbox, rows } = ports;
  const name = randomUUID();
  const identity = identify("model", "tenant-1", name);
  const { recordKey } = identity;
  if (record) await make(ports, recordKey, record);
  if (isTaken) await rows.put(name);
  const clock = fakeClock(NOW * 1000);
  const requests: string[] = [];
  const heldUp: (() => Promise<unknown>)[] = [];
  let fencingNumber: number | undefined;
  let answer: Played["answer"] = NO_TOKEN;

  const leaveToOthers = async () => {
    await ports.remove(recordKey);
    if (others) await make(ports, recordKey, others);
  };

  const underWay = new RequestsUnderWay();
  const watched = intercepted(store, (...asked) => underWay.during(() => answered(...asked)));
  const answered: Intercept = async (method, request) => {
    const isPoll = isPatient(each) && method === "find";
    if (isPoll && requests.at(-1) === "find") return request();
    if (isPoll) await leaveToOthers();
    requests.push(method);
    if (fault?.at !== requests.length) return request();
    if (fault.kind === "applied twice")
      return request()
        .catch(() => {})
        .then(request)
        .catch(inDoubt);
    if (fault.kind === "applied, no answer") await request().catch(() => {});
    if (fault.kind === "held up") heldUp.push(request);
    throw unreachable();
  };

  const workInSteps = async ({ step }: Execution<Write>) => {
    await step("first", () => 1);
    if (end === "fails between its steps") throw new Error(OWN);
    const second = () => {
      if (end !== "does its steps") throw new Error(OWN);
      return 2;
    };
    const didNotHappen = () => end.endsWith("nothing happened");
    const verify = VERIFY[call];
    await step("second", second, { atMostOnce: true, didNotHappen, ...(verify && { verify }) });
    return tokenOf(ME);
  };
  const work = async (execution: Execution<Write>) => {
    const { attempt, signal, commit } = execution;
    fencingNumber = attempt;
    if (others !== undefined && !isPatient(each)) await underWay.during(leaveToOthers);
    else await clock.sleep(1000 - (clock.now() % 1000));
    if (hasSteps(CALLS[call].handler)) return workInSteps(execution);
    const messages = outbox ? [MESSAGE] : [];
    if (end.startsWith("makes its commit")) {
      const writes = CALLS[call].handler === "conditional" ? [rows.insertion(name)] : [];
      return commit(tokenOf(ME), { messages, writes }).catch((error: unknown) => {
        if (!hasCode(error, "TRANSACTION_CONDITION")) throw error;
        if (end === "makes its commit") throw new Error(OWN);
        return commit(tokenOf(ME), { messages });
      });
    }
    if (end === "finds the row there, and returns that") return OWN;
    if (end === "has its effect") return tokenOf(ME);
    if (end === "has its effect, and does not know it") throw new OutcomeUnknownError();
    if (end === "fails for good") throw new PermanentError(tokenOf(ME));
    if (end === "is aborted near its deadline, and works on")
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    throw new Error(OWN);
  };

  const options = resolveOptions<Write>({
    operation: "model",
    store: watched,
    retentionSeconds: BOUNDS.retentionTicks,
    clockSkewSeconds: BOUNDS.graceTicks,
    shouldStore: (result) => result !== OWN,
    clock: isPatient(each) ? clock : withoutPauses(clock),
    random: { token: tokens(), fraction: () => 0 },
    ...(OPTIONS[call] as Partial<EngineOptions<Write>>),
  });
  const about = { identity, fingerprints: ["payload-0"], remainingMs: BOUNDS.workTicks * 1000 };
  const note = (said: unknown) => {
    answer = said === OWN ? "own end" : numberIn(said as string);
  };
  try {
    note(resultOf(await underWay.run(clock, perform(options, about, work))));
  } catch (error) {
    if (hasCode(error, "PERMANENT") || (error as Error).message === OWN) note((error as Error).message);
  }
  await rows.delete(name);
  for (const arrive of heldUp) await arrive().catch(() => {});
  return { requests, answer, fencingNumber, record: withStates(await read(ports, recordKey)) };
}

/** The write that created a step has no name that both worlds share. */
export function withStates(record: VisibleRecord | undefined): Played["record"] {
  if (!record) return undefined;
  const steps = Object.entries(record.marks).map(([name, { state }]) => `${name} ${state}`);
  return { ...record, marks: steps.sort() };
}

/** Requests of one tick are made at one time, also those that are repeated. */
function withoutPauses(clock: Clock): Clock {
  const isPause = (ms: number, signal?: AbortSignal) => ms < 100 && signal === undefined;
  return {
    now: () => clock.now(),
    sleep: (ms, signal) => (isPause(ms, signal) ? Promise.resolve() : clock.sleep(ms, signal)),
  };
}

/** As the SDK reports it: the rejected try wasn't the first. */
function inDoubt(error: unknown): never {
  if (hasCode(error, "TRANSACTION_CONDITION")) (error as TransactionConditionError).mayStillApply = true;
  throw error;
}

/** The call's own requests, and then those of its fences. */
function tokens(): () => string {
  let next: Token = ME;
  return () => {
    const token = tokenOf(next);
    next = next === ME ? FENCE : next + 1;
    return token;
  };
}

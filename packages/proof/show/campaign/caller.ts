// A caller: sends requests for its key, retries if it gets no final answer in time, sometimes twice simultaneously, and once more later.
import { setTimeout as sleep } from "node:timers/promises";
import type { SeededRandom } from "../demo/random.ts";
import { CALM, type Fate, type FromHands, type Mood } from "./asking.ts";
import type { Host } from "./host.ts";
import { type Call, isAtRest, isOver, type Subject } from "./subject.ts";
import type { Tally } from "./tally.ts";

export interface Callers {
  /** Asks until the answer is final, as often as a patient caller does, or until the signal aborts. */
  pursue(subject: Subject, random: SeededRandom, signal: AbortSignal): Promise<void>;
  /** One call of a handler that does its job immediately. Resolves when it has ended, whatever the result. */
  askCalmly(subject: Subject): Promise<Call>;
  /** Calls that have not ended. */
  readonly underWay: ReadonlySet<Call>;
}

export interface CallersOptions {
  readonly hosts: readonly Host[];
  readonly random: SeededRandom;
  readonly nextId: () => number;
  readonly answers: Tally;
  readonly decisions: Tally;
}

const MOST_TRIES = 6;
/** The time for a call in which nothing is to go wrong, on a slow machine too. */
export const CALM_MS = 20_000;

export function createCallers({ hosts, random: dice, nextId, answers, decisions }: CallersOptions): Callers {
  const underWay = new Set<Call>();

  async function ask(subject: Subject, mood: Mood, remainingMs: number): Promise<Call> {
    const host = dice.pick(hosts as [Host, ...Host[]]);
    const { key, variant, name, version } = subject;
    const id = nextId();
    const call: Call = { id, host: host.number, version, mood, startedAt: Date.now(), decisions: [] };
    subject.calls.push(call);
    underWay.add(call);
    const input = { key, version, name };
    const message = { ask: { id, variant: variant.name, input, mood, isCalm: mood === CALM, remainingMs } };
    const last = await host.ask(id, message, (progress) => follow(call, progress));
    underWay.delete(call);
    call.endedAt = Date.now();
    if (last && "ended" in last) {
      call.answer = last.ended.answer;
      call.decisions = last.ended.decisions;
    }
    answers.add(call.answer?.says ?? "no answer: killed");
    for (const decision of call.decisions) decisions.add(decision);
    return call;
  }

  async function pursue(subject: Subject, random: SeededRandom, signal: AbortSignal): Promise<void> {
    const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined);
    const askOnce = () => ask(subject, moodOf(subject, random), random.pick([1000, 1500]));
    for (let tries = 0; tries < MOST_TRIES && !signal.aborted; tries++) {
      const width = tries === 0 && !subject.mends ? random.pick([1, 1, 1, 2, 2, 3]) : 1;
      const asking = Array.from({ length: width }, async (_, index) => {
        await sleep(index * random.integer(0, 60));
        return askOnce();
      });
      const patience = pause(random.integer(700, 2500));
      await Promise.race([Promise.all(asking), patience]);
      mend(subject);
      if (subject.calls.some((call) => isOver(subject, call))) break;
      await pause(random.integer(30, 900));
    }
    await pause(random.integer(0, 2500));
    if (!signal.aborted && random.fraction() < 0.5) await Promise.race([askOnce(), pause(2500)]);
  }

  return {
    pursue,
    askCalmly: (subject) => ask(subject, CALM, CALM_MS),
    underWay,
  };
}

function follow(call: Call, progress: FromHands): void {
  if ("handlerStarted" in progress) {
    const { at, attempt } = progress.handlerStarted;
    call.handlerStartedAt = at;
    if (attempt !== undefined) call.attempt = attempt;
  } else if ("commitStarted" in progress) {
    call.commitStartedAt = progress.commitStarted.at;
  } else if ("handlerEnded" in progress) {
    call.handlerEndedAt = progress.handlerEnded.at;
  }
}

/** Only a caller that was informed of a failure without effects sends another payload under the same key. */
function mend(subject: Subject): void {
  const { calls, mends } = subject;
  if (mends && subject.version === 1 && calls.length > 0 && isAtRest(calls)) subject.version = 2;
}

const FATES: readonly (readonly [Fate, number])[] = [
  ["fail", 0.17],
  ["fail-after", 0.08],
  ["decline", 0.08],
  ["refuse", 0.02],
];

function moodOf(subject: Subject, random: SeededRandom): Mood {
  const beforeMs = random.fraction() < 0.5 ? 0 : random.integer(5, 700);
  const afterMs = random.fraction() < 0.7 ? 0 : random.integer(5, 400);
  const bytes = random.fraction() < 0.85 ? 0 : random.pick([1500, 5000, 30_000]);
  if (subject.mends && subject.version === 1) return { fate: "fail", beforeMs, afterMs: 0, bytes: 0 };
  let chance = random.fraction();
  const drawn = FATES.find(([, share]) => {
    chance -= share;
    return chance < 0;
  });
  return { fate: drawn?.[0] ?? "do", beforeMs, afterMs, bytes };
}

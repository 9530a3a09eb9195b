// One round: a storm with fresh keys, then calm, in which every key is finished, and everything is checked.
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { createGate } from "../demo/gate.ts";
import { type SeededRandom, seededRandom } from "../demo/random.ts";
import { CALM_MS, type Callers, createCallers } from "./caller.ts";
import { judgeSubject } from "./judge/judge-subject.ts";
import type { Violation } from "./judge/violation.ts";
import { judgeMessages } from "./messages/judge-messages.ts";
import { MESSAGE_QUEUES } from "./messages/message-queues.ts";
import type { Stage } from "./stage.ts";
import { type Call, createSubject, isOver, type Subject } from "./subject.ts";
import { causeTurmoil } from "./turmoil.ts";
import type { Variant } from "./variants.ts";

export interface RoundOptions {
  readonly number: number;
  readonly seed: number;
  readonly stormSeconds: number;
  /** How many keys are asked for in a second of the storm. */
  readonly keysPerSecond: number;
  /** The operations. */
  readonly variants: readonly [Variant, ...Variant[]];
  /** How long the calm waits if the machine is so slow that requests time out. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
}

export interface RoundReport {
  readonly subjects: number;
  readonly calls: number;
  readonly runs: number;
  readonly violations: readonly Violation[];
  /** The longest time that a key needed to finish in the calm. */
  readonly longestFinishMs: number;
}

const PRODUCTS = 3;
/** How many seconds' keys are pursued at the same time. */
const MOST_SECONDS = 5;
const CALM_AT_ONCE = 8;
/** For a slow machine, on top of the lease. */
const SLACK_MS = 5000;

export async function playRound(stage: Stage, options: RoundOptions): Promise<RoundReport> {
  const { seed, number, patienceMs, signal } = options;
  const { hosts, flow, watched, mishaps } = stage;
  const random = seededRandom(seed);
  const callers = createCallers({ ...stage, random });
  const subjects: Subject[] = [];
  const violations: Violation[] = [];

  await playStorm(stage, options, { random, callers, subjects });
  for (const host of hosts) host.goOn();
  for (let product = 0; product < PRODUCTS; product++) {
    await stage.tables.addStock(productOf(number, product), subjects.length);
  }
  if (!(await endOf(callers, patienceMs, signal))) {
    for (const { id } of callers.underWay) {
      const subject = subjects.find(({ calls }) => calls.some((call) => call.id === id));
      violations.push({ kind: "a call without an end", detail: `call ${id}`, ...(subject && { subject }) });
    }
  }

  const gate = createGate(CALM_AT_ONCE);
  const ask = (subject: Subject) => gate.shared(() => callers.askCalmly(subject));
  const finishes = await Promise.all(
    subjects.map((subject) =>
      finish(subject, ask, { limitMs: stage.leaseMs + SLACK_MS, patienceMs, signal }),
    ),
  );
  // Anything that still arrives is late: nothing may change because of it.
  await Promise.all(hosts.map((host) => host.flush()));
  await Promise.all(subjects.map(ask));
  const left = await flow?.settle(patienceMs / 1000, signal);
  if (left !== undefined) violations.push({ kind: "a message that comes back for ever", detail: left });

  const judged = await Promise.all(
    subjects.map((subject) => gate.shared(() => judge(stage, subject, left === undefined))),
  );
  violations.push(...judged.flat(), ...mishaps.splice(0));
  watched.clear();
  const calls = subjects.flatMap((subject) => subject.calls);
  return {
    subjects: subjects.length,
    calls: calls.length,
    runs: calls.filter(({ handlerStartedAt }) => handlerStartedAt !== undefined).length,
    violations,
    longestFinishMs: Math.max(0, ...finishes),
  };
}

interface Scene {
  readonly random: SeededRandom;
  readonly callers: Callers;
  readonly subjects: Subject[];
}

async function playStorm(
  stage: Stage,
  { number, stormSeconds, keysPerSecond, variants, signal }: RoundOptions,
  { random, callers, subjects }: Scene,
): Promise<void> {
  const { weather, flow, tables, watched } = stage;
  const { signal: over, end } = endAfter(stormSeconds * 1000, signal);
  // Every caller of the storm sleeps under it.
  setMaxListeners(0, over);
  const pursuits: Promise<void>[] = [];
  weather.storm();
  if (flow) flow.isCalm = false;
  const turmoil = causeTurmoil({ ...stage, signal: over });
  let active = 0;
  while (!over.aborted) {
    await sleep((random.fraction() * 2000) / keysPerSecond);
    // A slow machine gets less to do.
    if (active >= keysPerSecond * MOST_SECONDS) continue;
    const index = subjects.length;
    const variant = random.pick(variants);
    const subject = createSubject({
      key: `round-${number}-key-${index}`,
      variant,
      // Two keys want the same name, one after the other.
      name:
        variant.job === "stock"
          ? productOf(number, index % PRODUCTS)
          : `round-${number}-name-${accountOf(subjects)}`,
      mends: variant.job === "order" && random.fraction() < 0.15,
    });
    subjects.push(subject);
    watched.set(subject.recordKey, subject);
    active++;
    pursuits.push(callers.pursue(subject, random, over).finally(() => active--));
    if (random.fraction() < 0.06) void tables.addStock(productOf(number, random.integer(0, PRODUCTS - 1)), 3);
  }
  await turmoil;
  end();
  weather.calm();
  if (flow) flow.isCalm = true;
  signal.throwIfAborted();
  await Promise.all(pursuits);
}

/** Node 20 collects a signal of `AbortSignal.timeout` that only `AbortSignal.any` listens to, and it never aborts. */
function endAfter(ms: number, signal: AbortSignal): { readonly signal: AbortSignal; end(): void } {
  const ending = new AbortController();
  const abort = () => ending.abort();
  const timer = setTimeout(abort, ms);
  signal.addEventListener("abort", abort);
  const end = () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  };
  return { signal: ending.signal, end };
}

function accountOf(subjects: readonly Subject[]): number {
  return Math.floor(subjects.filter(({ variant }) => variant.job === "account").length / 2);
}

function productOf(round: number, product: number): string {
  return `round-${round}-product-${product}`;
}

/** Waits for the calls that are under way. @returns whether all have ended */
async function endOf({ underWay }: Callers, limitMs: number, signal: AbortSignal): Promise<boolean> {
  const endMs = Date.now() + limitMs;
  while (underWay.size > 0 && Date.now() < endMs) {
    signal.throwIfAborted();
    await sleep(50);
  }
  return underWay.size === 0;
}

/** @returns the duration in ms */
async function finish(
  subject: Subject,
  ask: (subject: Subject) => Promise<Call>,
  { limitMs, patienceMs, signal }: { limitMs: number; patienceMs: number; signal: AbortSignal },
): Promise<number> {
  if (subject.calls.some((call) => isOver(subject, call))) return 0;
  const startMs = Date.now();
  let sinceMs: number | undefined;
  let leaseMs = limitMs;
  for (let asked = 1; ; asked++) {
    const call = await ask(subject);
    signal.throwIfAborted();
    // Its turn may have come late.
    sinceMs ??= call.startedAt;
    const now = Date.now();
    if (isOver(subject, call)) return now - startMs;
    const says = call.answer?.says;
    // A machine that is too slow for its requests proves nothing, unless it never ends.
    const isOutage = says === undefined || says === "outage" || says === "failed";
    if (isOutage && now - startMs < patienceMs) {
      sinceMs = now;
      // It may have left a claim.
      leaseMs = limitMs + CALM_MS;
    }
    // One answer proves nothing: the key that loses a race for a name learns whose it is when it is asked for again.
    if (asked > 1 && now - sinceMs > leaseMs) {
      subject.stuck = `after ${now - sinceMs} ms without faults the answer is ${says}`;
      return now - startMs;
    }
    await sleep(200);
  }
}

async function judge({ tables, flow }: Stage, subject: Subject, isSettled: boolean): Promise<Violation[]> {
  const { key } = subject;
  const rows = await tables.rows(key);
  const outside = await tables.countOf(`outside ${key}`);
  const violations = judgeSubject(subject, { ...rows, outside });
  if (!flow || !isSettled) return violations;
  const consumed = await Promise.all(MESSAGE_QUEUES.map(({ name }) => tables.rows(`message ${key}/${name}`)));
  return [...violations, ...judgeMessages(subject, rows.runs, consumed)];
}

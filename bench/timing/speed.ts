// Latency and throughput of each contestant relative to the bare handler of the same round. The contestants take
// turns within every round, so that a slow moment of the machine meets all of them; the median of the rounds counts.
import type { Invoke } from "../contestants/lambda-call.ts";
import { postOrder } from "../contestants/lambda-call.ts";
import { lambdaContext } from "../contestants/world.ts";
import { median } from "./median.ts";

export const SPEED_ROUNDS = 12;
const WARM_UP_CALLS = 60;
const CALLS_ONE_BY_ONE = 30;
const CALLS_TOGETHER = 64;
const CONCURRENCY = 8;

export interface Speed {
  /** Latency of a first run, as a multiple of the bare handler's. */
  readonly firstRunLatency: number;
  /** Latency of a replay, as a multiple of the bare handler's. */
  readonly replayLatency: number;
  /** First runs per second with several at once, as a fraction of the bare handler's. */
  readonly throughput: number;
}

type Round = { readonly [name in keyof Speed]: number };

/** @param contestants by name; the first is the bare handler */
export async function compareSpeed(
  contestants: Readonly<Record<string, Invoke>>,
  onRound: () => void,
): Promise<Readonly<Record<string, Speed>>> {
  const entries = Object.entries(contestants);
  const [bareName] = entries[0] as [string, Invoke];
  const ratios: Record<string, Round[]> = {};
  for (const [, invoke] of entries) await callOneByOne(invoke, freshKeys(WARM_UP_CALLS));
  for (let round = 0; round < SPEED_ROUNDS; round++) {
    const absolute: Record<string, Round> = {};
    for (const [name, invoke] of rotated(entries, round)) absolute[name] = await measureRound(invoke);
    const bare = absolute[bareName] as Round;
    for (const [name, own] of Object.entries(absolute)) {
      ratios[name] ??= [];
      ratios[name].push({
        firstRunLatency: own.firstRunLatency / bare.firstRunLatency,
        replayLatency: own.replayLatency / bare.replayLatency,
        throughput: own.throughput / bare.throughput,
      });
    }
    onRound();
  }
  return Object.fromEntries(entries.map(([name]) => [name, medianRound(ratios[name] ?? [])]));
}

async function measureRound(invoke: Invoke): Promise<Round> {
  const keys = freshKeys(CALLS_ONE_BY_ONE);
  const firstRunLatency = median(await callOneByOne(invoke, keys));
  const replayLatency = median(await callOneByOne(invoke, keys));
  const startedAt = performance.now();
  await callTogether(invoke, freshKeys(CALLS_TOGETHER));
  const throughput = CALLS_TOGETHER / (performance.now() - startedAt);
  return { firstRunLatency, replayLatency, throughput };
}

async function callOneByOne(invoke: Invoke, keys: readonly string[]): Promise<number[]> {
  const durations: number[] = [];
  for (const key of keys) {
    const startedAt = performance.now();
    await invoke(postOrder(key), lambdaContext());
    durations.push(performance.now() - startedAt);
  }
  return durations;
}

async function callTogether(invoke: Invoke, keys: readonly string[]): Promise<void> {
  const left = [...keys];
  const work = async () => {
    for (let key = left.pop(); key !== undefined; key = left.pop()) {
      await invoke(postOrder(key), lambdaContext());
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
}

function freshKeys(count: number): string[] {
  return Array.from({ length: count }, () => crypto.randomUUID());
}

function rotated<T>(list: readonly T[], by: number): T[] {
  const start = by % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
}

function medianRound(rounds: readonly Round[]): Speed {
  return {
    firstRunLatency: median(rounds.map((round) => round.firstRunLatency)),
    replayLatency: median(rounds.map((round) => round.replayLatency)),
    throughput: median(rounds.map((round) => round.throughput)),
  };
}

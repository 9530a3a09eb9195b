// One contestant's turn: a number of calls by a number of concurrent callers, for first runs, or for replays of the same keys.
import { GCProfiler } from "node:v8";
import { median } from "./median.ts";

/** How many call at the same time. */
export const CALLERS = [1, 16, 64] as const;
export type Callers = (typeof CALLERS)[number];

export const KINDS = ["firstRun", "replay"] as const;
export type Kind = (typeof KINDS)[number];

/** The time of one turn, or of several turns of the same kind. Figures are per call unless stated otherwise. */
export interface Sample {
  /** Processor time of the whole process. */
  readonly cpuMs: number;
  /** Allocations on JavaScript's heap. */
  readonly heapKb: number;
  /** The median. */
  readonly latencyMs: number;
  readonly callsPerSecond: number;
}

export interface Turn {
  readonly sample: Sample;
  /** By the key. */
  readonly answers: ReadonlyMap<string, unknown>;
}

/** @param prepare makes the call of a key; the preparation isn't measured */
export async function takeTurn(
  prepare: (key: string) => () => Promise<unknown>,
  keys: readonly string[],
  callers: Callers,
): Promise<Turn> {
  const left = keys.map((key) => [key, prepare(key)] as const).values();
  const durations: number[] = [];
  const answers = new Map<string, unknown>();
  const work = async () => {
    for (const [key, call] of left) {
      const startedAt = performance.now();
      answers.set(key, await call());
      durations.push(performance.now() - startedAt);
    }
  };
  const collections = new GCProfiler();
  collections.start();
  const heapBefore = process.memoryUsage().heapUsed;
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: callers }, work));
  const wallMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpuBefore);
  const heapGrowth = process.memoryUsage().heapUsed - heapBefore;
  const collected = collections
    .stop()
    .statistics.map(
      ({ beforeGC, afterGC }) => beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize,
    );
  const heapBytes = collected.reduce((sum, bytes) => sum + bytes, heapGrowth);
  const sample = {
    cpuMs: (user + system) / 1000 / keys.length,
    heapKb: heapBytes / 1024 / keys.length,
    latencyMs: median(durations),
    callsPerSecond: (keys.length / wallMs) * 1000,
  };
  return { sample, answers };
}

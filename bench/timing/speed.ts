// Latency and throughput of each contestant relative to the bare handler of the same round. The contestants take
// turns within every round, so that a slow moment of the machine meets all of them; the median of the rounds counts.
import { median } from "./median.ts";

export const SPEED_ROUNDS = 8;

/** How many call at once. */
export const CALLERS = [1, 16, 64] as const;
export type Callers = (typeof CALLERS)[number];

export interface Pace {
  /** The median of the calls. */
  readonly latency: number;
  /** Calls per time. */
  readonly throughput: number;
}

/** Of one round in absolute figures, of all of them as multiples of the bare handler's. */
export interface Speed {
  readonly firstRun: Readonly<Record<Callers, Pace>>;
  readonly replay: Readonly<Record<Callers, Pace>>;
}

export interface Runner {
  /** Until the code is hot. */
  warmUp(): Promise<void>;
  /** In absolute figures. */
  round(): Promise<Speed>;
}

/**
 * @param contestants by name; the first is the bare handler
 * @param onRound called SPEED_ROUNDS times
 */
export async function compareSpeed(
  contestants: Readonly<Record<string, Runner>>,
  onRound: () => void,
): Promise<Readonly<Record<string, Speed>>> {
  const entries = Object.entries(contestants);
  const [bareName] = entries[0] as [string, Runner];
  const ratios = new Map<string, Speed[]>(entries.map(([name]) => [name, []]));
  for (const [, runner] of entries) await runner.warmUp();
  for (let round = 0; round < SPEED_ROUNDS; round++) {
    const absolute = new Map<string, Speed>();
    for (const [name, runner] of rotated(entries, round)) absolute.set(name, await runner.round());
    const bare = absolute.get(bareName) as Speed;
    for (const [name, own] of absolute) {
      ratios.get(name)?.push(eachPace((pace) => relative(pace(own), pace(bare))));
    }
    onRound();
  }
  return Object.fromEntries([...ratios].map(([name, rounds]) => [name, medianOf(rounds)]));
}

type Pick = (speed: Speed) => Pace;

function eachPace(make: (pick: Pick) => Pace): Speed {
  const forEach = (kind: keyof Speed) =>
    Object.fromEntries(CALLERS.map((callers) => [callers, make((speed) => speed[kind][callers])]));
  return { firstRun: forEach("firstRun"), replay: forEach("replay") } as unknown as Speed;
}

function relative(own: Pace, bare: Pace): Pace {
  return { latency: own.latency / bare.latency, throughput: own.throughput / bare.throughput };
}

function medianOf(rounds: readonly Speed[]): Speed {
  return eachPace((pick) => ({
    latency: median(rounds.map((round) => pick(round).latency)),
    throughput: median(rounds.map((round) => pick(round).throughput)),
  }));
}

function rotated<T>(list: readonly T[], by: number): T[] {
  const start = by % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
}

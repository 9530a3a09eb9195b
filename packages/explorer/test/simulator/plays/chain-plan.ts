// What one schedule of the chain is to be: who orders what when, and how the destinations of the messages behave.
import { SeededRandom } from "../../../lib/simulator/seeded-random.ts";

/** How requests to a destination end while it is away. `lost` has it take them, and never say so. */
export type Absence = "refuses" | "is out of order" | "throttles" | "hangs" | "lost";

export interface Away {
  readonly fromMs: number;
  readonly toMs: number;
  readonly how: Absence;
}

export interface Destination {
  readonly name: string;
  readonly isFifo: boolean;
  /** The least and the most that a request to it takes, in ms; absent for the usual. */
  readonly latencyMs?: readonly [number, number];
  /** When it is away: a healthy one never. */
  readonly away: readonly Away[];
  /** Until then it refuses the first entry of each request, as a healthy one may. */
  readonly hiccupsMs?: number;
}

export interface Sent {
  /** Its key, and its body. */
  readonly name: string;
  readonly destination: string;
  readonly group: string | undefined;
}

export interface ChainOrder {
  readonly key: string;
  /** When its clients ask for it. */
  readonly startsMs: readonly number[];
  readonly messages: readonly Sent[];
  /** The bytes beside each message's name: large messages are in items of their own. */
  readonly padding: number;
}

export interface ChainPlan {
  readonly seed: number;
  /** The chance of an I/O to meet a fault. */
  readonly faultRate: number;
  readonly mode: "claimed" | "optimistic";
  readonly shards: number;
  readonly batchSize: number;
  readonly sweepMs: number;
  /** One destination is away until its messages are parked, and somebody sends them again. */
  readonly isParking: boolean;
  readonly destinations: readonly [Destination, ...Destination[]];
  readonly orders: readonly ChainOrder[];
}

export const PARK_AFTER_MS = 45 * 60_000;

const ABSENCES = [
  "refuses",
  "is out of order",
  "throttles",
  "hangs",
  "lost",
] as const satisfies readonly Absence[];
const AWAY_MS = [2000, 20_000, 120_000, 600_000] as const;
const FOR_EVER = 100 * 86_400_000;

export function chainPlanOf(seed: number): ChainPlan {
  const random = new SeededRandom(`chain ${seed}`);
  const isParking = random.between(1, 10) === 1;
  const destinations = destinationsOf(random, isParking);
  const padding = random.between(1, 6) === 1 ? 2500 : 0;
  return {
    seed,
    isParking,
    destinations,
    faultRate: random.pick([0, 0.05, 0.1, 0.2]),
    mode: random.pick(["claimed", "optimistic"]),
    shards: random.pick([1, 1, 2]),
    batchSize: random.pick([1, 3, 10]),
    sweepMs: isParking ? 300_000 : random.pick([120_000, 300_000]),
    orders: Array.from({ length: random.between(2, 4) }, (_, index) => {
      const key = `order-${index + 1}`;
      const startMs = random.pick([0, 5, 50, 2000, 15_000, 90_000]);
      const again = random.pick<number[]>([[], [startMs], [startMs + 3000]]);
      return { key, startsMs: [startMs, ...again], messages: messagesOf(key, destinations, random), padding };
    }),
  };
}

/** The first one stays, and is slow at most; the second one goes and comes; whether there is a third is left to chance. */
function destinationsOf(random: SeededRandom, isParking: boolean): ChainPlan["destinations"] {
  const isSlow = random.between(1, 3) === 1;
  const healthy: Destination = {
    ...kindOf("healthy", random),
    ...(isSlow && { latencyMs: [300, 1200] as const }),
    hiccupsMs: random.pick([0, 1000, 20_000]),
    away: [],
  };
  const how = random.pick(ABSENCES);
  const gone = [{ fromMs: 0, toMs: FOR_EVER, how }];
  const dying = { ...kindOf("dying", random), away: isParking ? gone : absencesOf(random) };
  const third = { ...kindOf("third", random), away: random.pick([[], absencesOf(random)]) };
  return random.pick([
    [healthy, dying],
    [healthy, dying, third],
  ]);
}

function kindOf(name: string, random: SeededRandom): Pick<Destination, "name" | "isFifo"> {
  const isFifo = random.between(1, 3) > 1;
  return { name: isFifo ? `${name}.fifo` : name, isFifo };
}

function absencesOf(random: SeededRandom): Away[] {
  let fromMs = random.pick([0, 0, 1000, 10_000]);
  return Array.from({ length: random.between(1, 3) }, () => {
    const toMs = fromMs + random.pick(AWAY_MS);
    const away = { fromMs, toMs, how: random.pick(ABSENCES) };
    fromMs = toMs + random.pick(AWAY_MS);
    return away;
  });
}

/** At least one, to any of the destinations, in any order. */
function messagesOf(key: string, destinations: ChainPlan["destinations"], random: SeededRandom): Sent[] {
  return Array.from({ length: random.between(1, 3) }, (_, index) => {
    const { name: destination, isFifo } = random.pick([destinations[0], ...destinations]);
    return { name: `${key}.${index}`, destination, group: isFifo ? random.pick(["a", "a", "b"]) : undefined };
  });
}

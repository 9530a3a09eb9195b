// Counts what each contestant's durable functions double, lose and fail at, and the requests of a step.
import { CONTESTANTS, type Contestant, OPTIMISTIC } from "./contestants.ts";
import { type Plan, play, type Seen } from "./play.ts";
import { SHAPES, type Shape, writing } from "./shapes.ts";

export type Counts = Omit<Seen, "ios"> & { readonly runs: number };

export const SITUATIONS = {
  "it waits and is resumed": () => [{}],
  "the order comes again while the first execution waits or runs": () => [{ again: "meanwhile" }],
  "the order comes again half an hour after the end": () => [{ again: "afterwards" }],
  "it is killed before or after a request": (points, step) =>
    range(points, step).map((kill) => ({ kills: [kill + 2] })),
  "it is killed twice": (points, step) =>
    range(points, step).flatMap((kill) => [5, 13].map((gap) => ({ kills: [kill + 2, kill + 2 + gap] }))),
} as const satisfies Record<string, (points: number, step: number) => readonly Plan[]>;

export interface DurableResults {
  /** By contestant, then by situation. */
  readonly counts: Readonly<Record<string, Readonly<Record<string, Counts>>>>;
  /** By contestant: the requests to DynamoDB of one more step with one write. */
  readonly requests: Readonly<Record<string, number>>;
}

export interface Measuring {
  readonly contestants?: readonly Contestant[];
  readonly shapes?: readonly Shape[];
  /** 1 kills at each point, n at each nth. */
  readonly step?: number;
  readonly progress?: (words: string) => void;
}

export async function measureDurable({
  contestants = CONTESTANTS,
  shapes = SHAPES,
  step = 1,
  progress = () => {},
}: Measuring = {}): Promise<DurableResults> {
  const counts: Record<string, Record<string, Counts>> = {};
  const requests: Record<string, number> = {};
  for (const contestant of contestants) {
    // Loads what the SDK imports only when it's needed, which takes real time.
    await play(contestant, writing(1));
    const bySituation: Record<string, Counts> = {};
    counts[contestant.name] = bySituation;
    for (const [situation, plansOf] of Object.entries(SITUATIONS)) {
      bySituation[situation] = await countsOf(contestant, shapes, (points) => plansOf(points, step));
      progress(`${contestant.name}, ${situation}: ${JSON.stringify(bySituation[situation])}`);
    }
  }
  for (const contestant of [...contestants, OPTIMISTIC])
    requests[contestant.name] = await requestsOf(contestant);
  return { counts, requests };
}

async function countsOf(
  contestant: Contestant,
  shapes: readonly Shape[],
  plansOf: (points: number) => readonly Plan[],
): Promise<Counts> {
  const total = { runs: 0, doubled: 0, lost: 0, failed: 0 };
  for (const shape of shapes) {
    // Before and after each request of the undisturbed run.
    const { ios } = await play(contestant, shape);
    for (const plan of plansOf(ios.length * 2)) {
      const seen = await play(contestant, shape, plan);
      total.runs++;
      total.doubled += seen.doubled;
      total.lost += seen.lost;
      total.failed += seen.failed;
    }
  }
  return total;
}

async function requestsOf(contestant: Contestant): Promise<number> {
  const made = async (writes: number) =>
    (await play(contestant, writing(writes))).ios.filter(({ service }) => service === "dynamodb").length;
  return (await made(3)) - (await made(2));
}

function range(count: number, step: number): number[] {
  return Array.from({ length: count }, (_, index) => index).filter((index) => index % step === 0);
}

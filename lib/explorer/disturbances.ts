/** What is done to a run: one fault at one point, or a second delivery. Pure. */
import type { Fault } from "../simulator/fault.ts";
import type { Io } from "../simulator/io.ts";
import { type DisturbanceKind, type Durations, kindsOf } from "./disturbance-kinds.ts";
import type { Point } from "./finding.ts";

/** How long a fault lasts, from its point on. */
export const FAULT_REACHES = [
  /** This one try. */
  "once",
  /** Every try of this request that the invocation makes. */
  "request",
  /** Every request of the invocation to the same service. */
  "invocation",
] as const;

export interface Disturbance {
  /** "7 crash-after" */
  readonly id: string;
  /** "a crash after point 7 (dynamodb PutItem orders)" */
  readonly words: string;
  /** `undefined`: nothing happens to the I/O. */
  readonly point?: Point | undefined;
  readonly fault?: Fault | undefined;
  readonly reach?: (typeof FAULT_REACHES)[number];
  /** A second delivery: at the same time as the first, while the first stands at the point, or right after it. */
  readonly duplicate?: "at-once" | "meanwhile" | "right-after" | undefined;
  /** A second disturbance, of what comes after the first. */
  readonly next?: Disturbance | undefined;
}

/** A second delivery without any fault. The one after the first has ended is part of every run. */
const AT_ONCE: Disturbance = {
  id: "duplicate-at-once",
  words: "a second delivery at the same time",
  duplicate: "at-once",
};

/** Its eventually consistent reads do not see what the first has just written. */
const RIGHT_AFTER: Disturbance = {
  id: "duplicate-right-after",
  words: "a second delivery right after the first",
  duplicate: "right-after",
};

const AFTERWARDS: Disturbance = {
  id: "duplicate-afterwards",
  words: "a second delivery afterwards",
};

/** Everything that can be done once: at each point, and at none. */
export function disturbancesOf(
  ios: readonly Io[],
  points: readonly Point[],
  durations: Durations,
): Disturbance[] {
  const kinds = Object.entries(kindsOf(durations));
  const atPoints = points.flatMap((point, index) => {
    const io = ios[index];
    return kinds.flatMap(([name, { words, fits, ...rest }]): Disturbance[] =>
      io === undefined || fits?.(io) === false
        ? []
        : [
            {
              id: `${point.number} ${name}`,
              words: `${words} point ${point.number} (${point.label})`,
              point,
              ...rest,
            },
          ],
    );
  });
  return [AFTERWARDS, RIGHT_AFTER, AT_ONCE, ...atPoints];
}

/** Two of them, the second at a point after the first. */
export function pairOf(first: Disturbance, second: Disturbance): Disturbance {
  return {
    ...first,
    id: `${first.id} + ${second.id}`,
    words: `${first.words}, then ${second.words}`,
    next: second,
  };
}

/** What any request can meet, whatever it is for. */
const ANYWHERE = [
  "crash-before",
  "crash-after",
  "lost-answer",
  "timeout",
  "zombie-before",
  "zombie-after",
] as const;

/** A disturbance of whatever request comes as the so-many-th, for runs that are disturbed already. */
export function disturbanceAt(
  number: number,
  random: { pick<T>(choices: readonly [T, ...T[]]): T },
  durations: Durations,
): Disturbance {
  const name = random.pick(ANYWHERE);
  const { words, fault } = kindsOf(durations)[name] as DisturbanceKind;
  const point = { number, label: "a later request" };
  return { id: `${number} ${name}`, words: `${words} request ${number}`, point, fault };
}

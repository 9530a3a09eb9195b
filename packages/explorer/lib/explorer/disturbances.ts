/** The disturbances of a run: a fault at one point, or a second delivery. Pure. */
import type { Fault } from "../simulator/fault.ts";
import type { Io } from "../simulator/io.ts";
import {
  type DisturbanceKind,
  type DuplicateTime,
  type Durations,
  type FaultReach,
  kindsOf,
} from "./disturbance-kinds.ts";
import type { Point } from "./finding.ts";

export interface Disturbance {
  /** "7 crash-after" */
  readonly id: string;
  /** "a crash after point 7 (dynamodb PutItem orders)" */
  readonly words: string;
  /** `undefined`: the I/O has no fault. */
  readonly point?: Point | undefined;
  readonly fault?: Fault | undefined;
  readonly reach?: FaultReach;
  readonly duplicate?: DuplicateTime | undefined;
  /** A second disturbance, later in the same run. */
  readonly next?: Disturbance | undefined;
}

/** A second delivery without a fault. Every run delivers once more after the end anyway. */
const AT_ONCE: Disturbance = {
  id: "duplicate-at-once",
  words: "a second delivery at the same time",
  duplicate: "at-once",
};

/** Its eventually consistent reads miss the writes that the first delivery has just made. */
const RIGHT_AFTER: Disturbance = {
  id: "duplicate-right-after",
  words: "a second delivery right after the first",
  duplicate: "right-after",
};

const AFTERWARDS: Disturbance = {
  id: "duplicate-afterwards",
  words: "a second delivery afterwards",
};

/** All single disturbances: at each point, and without a point. */
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

/** Pairs of disturbances; the second is at a later point than the first. */
export function pairOf(first: Disturbance, second: Disturbance): Disturbance {
  return {
    ...first,
    id: `${first.id} + ${second.id}`,
    words: `${first.words}, then ${second.words}`,
    next: second,
  };
}

/** The kinds that every request can have, whatever it is for. */
const ANYWHERE = [
  "crash-before",
  "crash-after",
  "lost-answer",
  "timeout",
  "zombie-before",
  "zombie-after",
] as const;

/** A disturbance of the request with this number, for runs that are disturbed already. */
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

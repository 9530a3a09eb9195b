// A scenario of the comparison: something that happens to a function, and what its owner would want to see.
import type { Lab, Order } from "./lab.ts";
import type { Seen } from "./seen.ts";

export interface Scenario {
  /** Names it in tests; unique. */
  readonly name: string;
  /** Rows of the list of hazards. */
  readonly hazards: readonly string[];
  readonly title: string;
  /** The events, for readers. */
  readonly deed: string;
  /** The calls, in the order of the answers. */
  readonly calls: readonly string[];
  readonly run: (lab: Lab) => Promise<Seen>;
  readonly wishes: readonly Wish[];
  /** What a reader needs to know to compare fairly. */
  readonly note?: string;
}

export interface Wish {
  readonly words: string;
  readonly holds: (seen: Seen) => boolean;
}

/** The event of a scenario whose function is keyed by `id`. */
export const EVENT = { id: "key-1", item: "book" };

/** Longer than any lease here. */
export const PAST_THE_LEASE_MS = 60_000;

export const happensOnce: Wish = {
  words: "the effect happens once",
  holds: ({ effects }) => effects === 1,
};

export const neverTwice: Wish = {
  words: "the effect never happens twice",
  holds: ({ effects }) => effects < 2,
};

/** @param calls by their places, from 0 */
export function sameAnswers(words: string, ...calls: readonly number[]): Wish {
  return {
    words,
    holds: ({ answers }) =>
      new Set(calls.map((call) => answers[call])).size === 1 && isAnswered(answers[calls[0] ?? 0]),
  };
}

/** The call of that place gets a result, not an error. */
export function answered(words: string, call: number): Wish {
  return { words, holds: ({ answers }) => isAnswered(answers[call]) };
}

/** The call at that position gets an error. */
export function refused(words: string, call: number): Wish {
  return { words, holds: ({ answers }) => !isAnswered(answers[call]) };
}

function isAnswered(answer: string | undefined): boolean {
  return answer !== undefined && !/^throws |^[45]\d\d\b|^–$/.test(answer);
}

/** A handler that does nothing but its effect. */
export function ordering(lab: Lab): () => Promise<Order> {
  return async () => lab.makeOrder();
}

/** A first call, an immediate retry, and one after the lease. The fault is over after the first. */
export async function callThreeTimes(
  lab: Lab,
  call: (event: unknown) => Promise<string>,
  event: unknown = EVENT,
): Promise<string[]> {
  const first = await call(event);
  lab.faults = () => "pass";
  const retry = await call(event);
  lab.skipTime(PAST_THE_LEASE_MS);
  return [first, retry, await call(event)];
}

export const THREE_CALLS = ["first call", "retry at once", "retry after the lease"] as const;

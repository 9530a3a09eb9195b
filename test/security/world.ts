// Tries hostile inputs one by one: each is refused, or read as what it is. Anything else is a weakness.
import { inspect } from "node:util";

/** `refused`: a clear error, nothing ran and nothing was written. `accepted`: read as exactly what it says. */
export type Verdict = "refused" | "accepted";

export interface Suite<Input = unknown> {
  readonly title: string;
  /** What is tried, for docs/operate/security.md. */
  readonly what: string;
  /** What must hold for each, for docs/operate/security.md. */
  readonly promise: string;
  readonly inputs: () => readonly Input[];
  /** Throws for a weakness. */
  readonly judge: (input: Input) => Verdict | Promise<Verdict>;
  readonly close?: () => unknown;
}

export interface Tally {
  readonly tried: number;
  readonly refused: number;
  readonly accepted: number;
  /** The inputs that showed a weakness, each with what happened. */
  readonly weaknesses: readonly string[];
}

/** Inputs that are there twice count once. */
export async function tryAll<Input>({ inputs, judge }: Suite<Input>): Promise<Tally> {
  const tried = new Set<string>();
  const counts = { refused: 0, accepted: 0 };
  const weaknesses: string[] = [];
  for (const input of inputs()) {
    const name = nameOf(input);
    if (tried.has(name)) continue;
    tried.add(name);
    try {
      counts[await judge(input)]++;
    } catch (error) {
      weaknesses.push(`${name.slice(0, 500)}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { tried: tried.size, ...counts, weaknesses };
}

function nameOf(input: unknown): string {
  return inspect(input, { depth: 12, maxStringLength: 4000, maxArrayLength: 300, breakLength: Infinity });
}

/** For judges: what was expected of this input, and did not hold. */
export function hold(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new Error(otherwise);
}

/** What a call threw; `undefined` where it did not. */
export async function errorOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return error ?? new Error("undefined was thrown");
  }
}

/** Negative controls: one rule of the protocol left out, what breaks then, and the shortest way there. */
import type { Bounds, Rule } from "./bounds.ts";
import { type Exploration, explore } from "./explore.ts";
import type { Invariant } from "./invariants.ts";
import { SMALLEST } from "./suites.ts";

export interface Control {
  readonly without: Rule;
  readonly hazards: string;
  readonly bounds?: Partial<Bounds>;
  readonly breaks: Invariant | "liveness";
  /** A step per line. */
  readonly trace: string;
}

/** What is found without the rule, in the form of a control. */
export function findWithout({ without, bounds, breaks }: Control): { breaks?: string; trace?: string } {
  const invariants = breaks === "liveness" ? [] : [breaks];
  const found = explore({ ...SMALLEST, ...bounds, without }, { invariants });
  return told(found);
}

/** The same bounds with the rule. */
export function findWith({ bounds }: Control): { breaks?: string; trace?: string } {
  const name = JSON.stringify(bounds);
  const known = EXPLORED.get(name) ?? told(explore({ ...SMALLEST, ...bounds }));
  EXPLORED.set(name, known);
  return known;
}

/** Several controls have the same bounds. */
const EXPLORED = new Map<string, ReturnType<typeof told>>();

function told({ violation, stuck }: Exploration) {
  if (violation) return { breaks: violation.invariant, trace: lines(violation.trace) };
  return stuck ? { breaks: "liveness", trace: lines(stuck) } : {};
}

const lines = (trace: readonly string[]) => trace.map((step) => `\n    ${step}`).join("");

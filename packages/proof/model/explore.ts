/** Breadth-first search over every state that the model can reach: complete, or up to the first broken invariant. */
import type { Model } from "./bounds.ts";
import { canonical } from "./canonical.ts";
import { Edges } from "./edges.ts";
import type { Invariant } from "./invariants.ts";
import { initialState, isFinished, isUnsent, type ModelState } from "./state.ts";
import { stepsFrom } from "./steps.ts";

export interface Exploration {
  readonly states: number;
  /** That lead to another state. */
  readonly steps: number;
  /** Steps to the farthest state. */
  readonly depth: number;
  readonly seconds: number;
  /** Moves of a record that happened. */
  readonly moves: ReadonlySet<string>;
  /** A shortest way to break an invariant. The search ends there. */
  readonly violation?: { readonly invariant: Invariant; readonly trace: readonly string[] };
  /** A shortest way to a state from which no steps lead to one where each key is finished and all messages are sent. */
  readonly stuck?: readonly string[];
}

export interface Search {
  /** @default - all of them count */
  readonly invariants?: readonly Invariant[];
  /**
   * The name of a state: those of one name are explored once.
   * @default canonical
   */
  readonly nameOf?: (state: ModelState, model: Model) => string;
}

export function explore(model: Model, { invariants, nameOf = canonical }: Search = {}): Exploration {
  const begun = performance.now();
  const numbers = new Map<string, number>();
  const parents: number[] = [];
  const labels: string[] = [];
  const goals: number[] = [];
  const edges = new Edges();
  const moves = new Set<string>();
  let next: ModelState[] = [];
  let depth = 0;

  const visit = (state: ModelState, parent: number, label: string): number => {
    const name = nameOf(state, model);
    const known = numbers.get(name);
    if (known !== undefined) return known;
    const id = parents.length;
    numbers.set(name, id);
    parents.push(parent);
    labels.push(label);
    next.push(state);
    if (isGoal(state)) goals.push(id);
    return id;
  };
  const traceTo = (id: number): string[] => {
    const trace: string[] = [];
    for (let at = id; at > 0; at = parents[at] as number) trace.unshift(labels[at] as string);
    return trace;
  };
  const result = (found: Pick<Exploration, "violation" | "stuck">): Exploration => ({
    states: parents.length,
    steps: edges.count,
    depth,
    seconds: (performance.now() - begun) / 1000,
    moves,
    ...found,
  });

  visit(initialState(model), 0, "");
  for (let from = 0; next.length > 0; ) {
    const level = next;
    next = [];
    for (const state of level) {
      for (const step of stepsFrom(state, model)) {
        const invariant = step.broken.find((name) => invariants?.includes(name) ?? true);
        if (invariant) return result({ violation: { invariant, trace: [...traceTo(from), step.label] } });
        for (const move of step.moves) moves.add(move);
        if (step.next !== state) edges.add(from, visit(step.next, from, step.label));
      }
      from++;
    }
    if (next.length > 0) depth++;
  }
  const stuck = edges.firstStuck(parents.length, goals);
  return result(stuck === undefined ? {} : { stuck: traceTo(stuck) });
}

function isGoal({ slots }: ModelState): boolean {
  return slots.every(({ record }) => record !== undefined && isFinished(record) && !isUnsent(record));
}

/** The negative controls of `controls.txt`, and the one player for all of them. */
import { readFileSync } from "node:fs";
import type { Bounds, CallKind, Rule } from "./bounds.ts";
import { type Exploration, explore } from "./explore.ts";
import type { Invariant } from "./invariants.ts";
import { SMALLEST } from "./suites.ts";

export interface Control {
  readonly hazards: string;
  readonly without: Rule;
  readonly breaks: Invariant | "liveness";
  readonly bounds: Partial<Bounds>;
  readonly trace: readonly string[];
}

export const CONTROLS: readonly Control[] = readFileSync(new URL("controls.txt", import.meta.url), "utf8")
  .trimEnd()
  .split("\n\n")
  .filter((block) => !block.startsWith("#"))
  .map(readControl);

function readControl(block: string): Control {
  const [head = "", ...steps] = block.split("\n");
  const found = /^(H[\dH, ]+): without (\w+), (\w+) breaks(?: under (.+))?$/.exec(head);
  if (!found) throw new Error(`controls.txt: "${head}" isn't the first line of a control`);
  const [, hazards = "", without, breaks, bounds = "{}"] = found;
  const { calls, ...rest } = JSON.parse(bounds) as Omit<Partial<Bounds>, "calls"> & { calls?: string[] };
  return {
    hazards,
    without: without as Rule,
    breaks: breaks as Invariant | "liveness",
    bounds: { ...rest, ...(calls && { calls: calls.map(readCall) }) },
    trace: steps.map((step) => step.trim()),
  };
}

function readCall(words: string): CallKind {
  const mode = words.startsWith("optimistic ") ? "optimistic" : "claimed";
  return { mode, handler: words.replace("optimistic ", "") as CallKind["handler"] };
}

type Found = Partial<Pick<Control, "breaks" | "trace">>;

/** What an exploration without the rule finds, in the form of a control. */
export function findWithout({ without, bounds, breaks }: Control): Found {
  const invariants = breaks === "liveness" ? [] : [breaks];
  return foundIn(explore({ ...SMALLEST, ...bounds, without }, { invariants }));
}

/** The same bounds with the rule. */
export function findWith({ bounds }: Control): Found {
  const name = JSON.stringify(bounds);
  const known = EXPLORED.get(name) ?? foundIn(explore({ ...SMALLEST, ...bounds }));
  EXPLORED.set(name, known);
  return known;
}

/** Several controls have the same bounds. */
const EXPLORED = new Map<string, Found>();

function foundIn({ violation, stuck }: Exploration): Found {
  if (violation) return { breaks: violation.invariant, trace: violation.trace };
  return stuck ? { breaks: "liveness", trace: stuck } : {};
}

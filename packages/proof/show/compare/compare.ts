// Runs the scenarios with every contestant on one engine. Log lines about provoked errors are discarded.
import { readFileSync } from "node:fs";
import { pinnedVersions } from "../../versions.ts";
import { type CostOfPath, countCosts, smallerBundles } from "./costs.ts";
import type { DurableResults } from "./durable/measure.ts";
import type { Contestant } from "./lab.ts";
import { inLab } from "./lab.ts";
import { onceonly } from "./onceonly.ts";
import { powertools } from "./powertools.ts";
import type { Scenario } from "./scenario.ts";
import { SCENARIOS } from "./scenarios.ts";
import type { Seen } from "./seen.ts";

const CONTESTANTS: readonly Contestant[] = [
  onceonly("wrapper"),
  onceonly("middleware"),
  powertools("wrapper"),
  powertools("middleware"),
];

export interface Observation extends Pick<Contestant, "package" | "adapter"> {
  readonly seen: Seen;
}

export interface Observed {
  readonly scenario: Scenario;
  /** The same contestants for each scenario, in the same order. */
  readonly observations: readonly Observation[];
}

export interface Comparison {
  readonly versions: Readonly<Record<string, string>>;
  /** By their group's name. */
  readonly groups: Readonly<Record<string, readonly Observed[]>>;
  readonly costs: readonly CostOfPath[];
  /** The package with fewer bytes, by the thing that is measured. */
  readonly smallerBundles: Readonly<Record<string, string>>;
  /** As `npm run compare:durable` has counted it. */
  readonly durable: DurableResults;
}

export const COMPARISON_STEPS = Object.values(SCENARIOS).flat().length;

/** @param observeOne runs one scenario; called COMPARISON_STEPS times */
export async function compare(
  endpoint: string,
  observeOne: (scenario: Scenario) => Promise<readonly Observation[]>,
): Promise<Comparison> {
  const groups: Record<string, Observed[]> = {};
  for (const [name, scenarios] of Object.entries(SCENARIOS)) {
    groups[name] = [];
    for (const scenario of scenarios) {
      groups[name].push({ scenario, observations: await observeOne(scenario) });
    }
  }
  return {
    versions: pinnedVersions(),
    groups,
    costs: await countCosts(endpoint),
    smallerBundles: await smallerBundles(),
    durable: JSON.parse(readFileSync(new URL("durable/results.json", import.meta.url), "utf8")),
  };
}

export async function observe(scenario: Scenario, endpoint: string): Promise<readonly Observation[]> {
  const observations: Observation[] = [];
  for (const contestant of CONTESTANTS) {
    const seen = await quietly(() => inLab(contestant, endpoint, scenario.run));
    observations.push({ package: contestant.package, adapter: contestant.adapter, seen });
  }
  return observations;
}

async function quietly<T>(work: () => Promise<T>): Promise<T> {
  const { warn } = console;
  console.warn = () => {};
  try {
    return await work();
  } finally {
    console.warn = warn;
  }
}

// The sections of docs/proof/benchmarks.md: what each measures, and in how many steps.
import { connect } from "../../../test/kit/tables.ts";
import { bundleProcess } from "../process-bundle.ts";
import { BATCH_STEPS, compareBatches } from "./batch/compare-batches.ts";
import { capacityPaths } from "./capacity/paths.ts";
import { createWorld } from "./contestants/world.ts";
import { byEffort, type Effort } from "./effort.ts";
import { GROWTH_STEPS, measureGrowth } from "./growth/growth.ts";
import { compareHotKey, HOT_KEY_STEPS } from "./hot-key/hot-key.ts";
import { meteredClient } from "./metering/metered-client.ts";
import type { CountedPath } from "./report/capacity-table.ts";
import type { Figures, SectionName } from "./report/results.ts";
import { CONTESTANTS, compareServers, type ServersEffort } from "./servers/compare-servers.ts";
import { measureSizes } from "./size/sizes.ts";
import { clientSteps, raceClients } from "./timing/client-race.ts";
import { coldStartSteps, compareColdStarts } from "./timing/cold-start.ts";
import { enter, type RaceEffort, race } from "./timing/race.ts";

export interface Section<Found> {
  /** What must be there: a DynamoDB, and a machine without other work because time is measured. */
  readonly needs: readonly ("engine" | "quiet")[];
  /** How often `step` is called. */
  steps(effort: Effort): number;
  measure(endpoint: string, effort: Effort, step: () => void): Promise<Found>;
}

/** Those that `--short` runs. */
export const SHORT_SECTIONS: readonly SectionName[] = [
  "client",
  "cold-start",
  "bundle",
  "capacity",
  "hot-key",
  "servers",
  "growth",
];

const ENGINE_EFFORT: RaceEffort = {
  runs: 3,
  turns: 2,
  warmUpCalls: 600,
  calls: { 1: 30, 16: 64, 64: 128 },
};

const engineEffort = (effort: Effort): RaceEffort =>
  byEffort(effort, {
    quick: { ...ENGINE_EFFORT, runs: 1 },
    short: { ...ENGINE_EFFORT, runs: 2 },
    full: ENGINE_EFFORT,
  });

/** A minute for each contestant. */
const SERVERS_EFFORT: ServersEffort = { rounds: 6, roundMs: 10_000, calls: 40 };

const serversEffort = (effort: Effort): ServersEffort =>
  byEffort(effort, {
    quick: { rounds: 2, roundMs: 3000, calls: 10 },
    short: { rounds: 3, roundMs: 5000, calls: 20 },
    full: SERVERS_EFFORT,
  });

export const SECTIONS: { readonly [name in SectionName]: Section<Figures[name]> } = {
  client: { needs: ["engine", "quiet"], steps: clientSteps, measure: raceClients },
  engine: {
    needs: ["engine", "quiet"],
    steps: (effort) => engineEffort(effort).runs * engineEffort(effort).turns,
    async measure(endpoint, effort, step) {
      const client = connect(endpoint);
      const entries = await enter(client, "engine");
      client.destroy();
      const bundle = await bundleProcess("packages/proof/measure/timing/contestant-process.ts");
      return race(entries, { bundle, endpoint }, engineEffort(effort), step);
    },
  },
  "cold-start": { needs: ["engine", "quiet"], steps: coldStartSteps, measure: compareColdStarts },
  bundle: {
    needs: [],
    steps: () => 1,
    async measure(_endpoint, _effort, step) {
      const figures = await measureSizes();
      step();
      return figures;
    },
  },
  batch: {
    needs: ["engine", "quiet"],
    steps: () => BATCH_STEPS,
    measure: (endpoint, effort, step) => compareBatches(endpoint, step, effort === "quick" ? 5 : undefined),
  },
  capacity: {
    needs: ["engine"],
    steps: () => 1,
    async measure(endpoint, _effort, step) {
      const metered = await meteredClient(endpoint);
      const counted: CountedPath[] = [];
      for (const path of capacityPaths(metered, await createWorld(metered.client))) {
        const { name, onceonly, powertools, powertoolsRemark } = path;
        const own = await onceonly();
        counted.push({ name, onceonly: own, powertools: await powertools?.(), powertoolsRemark });
      }
      metered.client.destroy();
      step();
      return counted;
    },
  },
  "hot-key": {
    needs: ["engine"],
    steps: () => HOT_KEY_STEPS,
    measure: (endpoint, _effort, step) => compareHotKey(endpoint, step),
  },
  servers: {
    needs: ["engine", "quiet"],
    steps: (effort) => serversEffort(effort).rounds * CONTESTANTS.length,
    measure: (endpoint, effort, step) => compareServers(endpoint, serversEffort(effort), step),
  },
  growth: { needs: ["engine"], steps: () => GROWTH_STEPS, measure: measureGrowth },
};

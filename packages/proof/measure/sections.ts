// The sections of docs/proof/benchmarks.md: what each measures, and in how many steps.
import { connect } from "../../../test/kit/tables.ts";
import { bundleProcess } from "../process-bundle.ts";
import { BATCH_STEPS, compareBatches } from "./batch/compare-batches.ts";
import { capacityPaths } from "./capacity/paths.ts";
import { createWorld } from "./contestants/world.ts";
import { compareHotKey, HOT_KEY_STEPS } from "./hot-key/hot-key.ts";
import { meteredClient } from "./metering/metered-client.ts";
import type { CountedPath } from "./report/capacity-table.ts";
import type { Figures, SectionName } from "./report/results.ts";
import { compareServers, type ServersEffort, STORE_NAMES } from "./servers/compare-servers.ts";
import { weigh } from "./size/entries.ts";
import { bundleFunction, FUNCTIONS } from "./size/functions.ts";
import { clientSteps, raceClients } from "./timing/client-race.ts";
import { coldStartSteps, compareColdStarts } from "./timing/cold-start.ts";
import { type Effort, enter, race } from "./timing/race.ts";

export interface Section<Found> {
  /** How often `step` is called. */
  steps(quick: boolean): number;
  measure(endpoint: string, quick: boolean, step: () => void): Promise<Found>;
}

const ENGINE_EFFORT: Effort = { runs: 3, turns: 2, warmUpCalls: 600, calls: { 1: 30, 16: 64, 64: 128 } };

/** A minute for each contestant. */
const SERVERS_EFFORT: ServersEffort = { rounds: 6, roundMs: 10_000, calls: 40 };

const serversEffort = (quick: boolean): ServersEffort =>
  quick ? { rounds: 2, roundMs: 3000, calls: 10 } : SERVERS_EFFORT;

const engineEffort = (quick: boolean): Effort => (quick ? { ...ENGINE_EFFORT, runs: 1 } : ENGINE_EFFORT);

export const SECTIONS: { readonly [name in SectionName]: Section<Figures[name]> } = {
  client: { steps: clientSteps, measure: raceClients },
  engine: {
    steps: (quick) => engineEffort(quick).runs * engineEffort(quick).turns,
    async measure(endpoint, quick, step) {
      const client = connect(endpoint);
      const entries = await enter(client, "engine");
      client.destroy();
      const bundle = await bundleProcess("packages/proof/measure/timing/contestant-process.ts");
      return race(entries, { bundle, endpoint }, engineEffort(quick), step);
    },
  },
  "cold-start": { steps: coldStartSteps, measure: compareColdStarts },
  bundle: {
    steps: () => 1,
    async measure(_endpoint, _quick, step) {
      const functions: Record<string, number> = {};
      for (const [name, each] of Object.entries(FUNCTIONS)) {
        functions[name] = (await bundleFunction(each, true)).byteLength;
      }
      const imports = await weigh();
      step();
      return { imports, functions };
    },
  },
  batch: {
    steps: () => BATCH_STEPS,
    measure: (endpoint, quick, step) => compareBatches(endpoint, step, quick ? 5 : undefined),
  },
  capacity: {
    steps: () => 1,
    async measure(endpoint, _quick, step) {
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
    steps: () => HOT_KEY_STEPS,
    measure: (endpoint, _quick, step) => compareHotKey(endpoint, step),
  },
  servers: {
    steps: (quick) => serversEffort(quick).rounds * STORE_NAMES.length,
    measure: (endpoint, quick, step) => compareServers(endpoint, serversEffort(quick), step),
  },
};

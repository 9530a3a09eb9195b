// The sections of docs/benchmarks.md: what each measures, in how many steps, and how it becomes text.
import { connect } from "../test/dynamodb/tables.ts";
import { BATCH_STEPS, compareBatches } from "./batch/compare-batches.ts";
import { capacityPaths } from "./capacity/paths.ts";
import { createWorld } from "./contestants/world.ts";
import { compareHotKey, HOT_KEY_STEPS } from "./hot-key/hot-key.ts";
import { meteredClient } from "./metering/metered-client.ts";
import { batchSection } from "./report/batch-section.ts";
import { bundleSection } from "./report/bundle-section.ts";
import { capacitySection } from "./report/capacity-section.ts";
import type { CountedPath } from "./report/capacity-table.ts";
import { hotKeySection } from "./report/hot-key-section.ts";
import { timingsSection } from "./report/timings-section.ts";
import { onceonlyBundle, powertoolsBundle } from "./size/entries.ts";
import { speedContestants } from "./timing/contestants.ts";
import { IMPORT_ROUNDS, importTimes } from "./timing/import-time.ts";
import { isolatedRunner } from "./timing/isolated-runner.ts";
import { compareSpeed, type Runner, SPEED_ROUNDS } from "./timing/speed.ts";

export interface Section {
  /** How often `step` is called. */
  readonly steps: number;
  /** Resolves to Markdown under a heading of the second level. */
  write(endpoint: string, step: (label: string) => void): Promise<string>;
}

/** In the order of the document. */
export const SECTIONS: Readonly<Record<string, Section>> = {
  capacity: {
    steps: 1,
    async write(endpoint, step) {
      const metered = await meteredClient(endpoint);
      const counted: CountedPath[] = [];
      for (const path of capacityPaths(metered, await createWorld(metered.client))) {
        const { name, onceonly, powertools, powertoolsRemark } = path;
        const own = await onceonly();
        counted.push({ name, onceonly: own, powertools: await powertools?.(), powertoolsRemark });
      }
      metered.client.destroy();
      step("requests and capacity");
      return capacitySection(counted);
    },
  },
  "hot-key": {
    steps: HOT_KEY_STEPS,
    write: async (endpoint, step) => hotKeySection(await compareHotKey(endpoint, () => step("hot key"))),
  },
  batch: {
    steps: BATCH_STEPS,
    write: async (endpoint, step) =>
      batchSection(await compareBatches(endpoint, () => step("batches of messages"))),
  },
  bundle: {
    steps: 1,
    async write(_endpoint, step) {
      const [onceonly, powertools] = await Promise.all([onceonlyBundle(), powertoolsBundle()]);
      step("bundles");
      return bundleSection({ onceonly, powertools });
    },
  },
  timings: {
    steps: IMPORT_ROUNDS + SPEED_ROUNDS,
    async write(endpoint, step) {
      const [own, peer] = await Promise.all([onceonlyBundle(), powertoolsBundle()]);
      const importMs = importTimes({ onceonly: own.code, powertools: peer.code }, () => step("import time"));
      const { client, ...tables } = await createWorld(connect(endpoint));
      const names = Object.keys(speedContestants({ client, ...tables }));
      const runners = names.map((contestant) => isolatedRunner({ contestant, endpoint, tables }));
      const contestants = Object.fromEntries(names.map((name, nth) => [name, runners[nth] as Runner]));
      const speeds = await compareSpeed(contestants, () => step("latency and throughput"));
      for (const runner of runners) runner.stop();
      client.destroy();
      return timingsSection({ importMs, speeds });
    },
  },
};

// The contestants that consume the stream, and under which faults. They take turns section by section, so a slow moment
// of the machine affects all of them.
import { setTimeout } from "node:timers/promises";
import type { BatchSetup, DeployBatch } from "../contestants/batch-function.ts";
import {
  onceonlyCommitting,
  onceonlyCommittingLean,
  onceonlyWriting,
  onceonlyWritingLean,
} from "../contestants/onceonly-batch.ts";
import { powertoolsBatch } from "../contestants/powertools-batch.ts";
import { POWERTOOLS_PARTITION_KEY } from "../contestants/world.ts";
import { createMeter } from "../metering/meter.ts";
import { VISIBILITY_SECONDS } from "./consumer.ts";
import { crashes, type FaultPlan, lostAnswers, noFaults } from "./faults.ts";
import { messageStream, type Places, placesOf, workMsOf } from "./message-stream.ts";
import { SkippableTime } from "./skippable-time.ts";
import { Trial, type TrialResult } from "./trial.ts";

const SECTION_BATCHES = 50;
const CONCURRENCY = 4;

interface Contestant {
  readonly partitionKey: string;
  readonly deploy: DeployBatch;
}

interface Part {
  readonly sections: number;
  readonly planFaults: () => FaultPlan;
  /** Batches of a section, at most. */
  readonly batches?: number;
  /** Messages of a batch. */
  readonly size?: number;
  readonly concurrency?: number;
  readonly work?: BatchSetup["work"];
}

const onceonly = (deploy: DeployBatch): Contestant => ({ partitionKey: "pk", deploy });

/** The last is the peer. */
export const CONTESTANTS: Readonly<Record<string, Contestant>> = {
  "onceonly, claimed, with a commit": onceonly(onceonlyCommitting()),
  "onceonly, optimistic, with a commit": onceonly(onceonlyCommitting({ mode: "optimistic" })),
  "onceonly, claimed, the handler writes on its own": onceonly(onceonlyWriting()),
  'onceonly, claimed, the handler writes on its own, `groupRequests: "completions"`': onceonly(
    onceonlyWriting({ groupRequests: "completions" }),
  ),
  "onceonly, claimed, with a commit, lean": onceonly(onceonlyCommittingLean),
  "onceonly, claimed, the handler writes on its own, lean": onceonly(onceonlyWritingLean),
  Powertools: { partitionKey: POWERTOOLS_PARTITION_KEY, deploy: powertoolsBatch },
};

const PARTS = {
  withoutFaults: { sections: 20, planFaults: noFaults },
  withCrashes: { sections: 3, planFaults: crashes },
  withLostAnswers: { sections: 3, planFaults: lostAnswers },
  /** One invocation at a time, so that its wall time is its own. */
  ofHundred: {
    sections: 10,
    planFaults: noFaults,
    batches: 4,
    size: 100,
    concurrency: 1,
    work: (record) => setTimeout(workMsOf(record)),
  },
} satisfies Record<string, Part>;

export const BATCH_STEPS = Object.values(PARTS).reduce((sum, { sections }) => sum + sections, 0);

/** The result of one part. */
export interface PartFigures {
  readonly sections: number;
  readonly messages: number;
  readonly orders: number;
  readonly places: Places;
  /** By the contestant's name; the last is the peer. */
  readonly results: Readonly<Record<string, TrialResult>>;
}

/** Runs from before there were batches of 100 lack them. */
export type BatchFigures = { readonly concurrency: number; readonly ofHundred?: PartFigures } & {
  readonly [part in Exclude<keyof typeof PARTS, "ofHundred">]: PartFigures;
};

/** @param onSection called BATCH_STEPS times */
export async function compareBatches(
  endpoint: string,
  onSection: () => void,
  sectionBatches = SECTION_BATCHES,
): Promise<BatchFigures> {
  const run = (part: Part) => runPart(endpoint, part, sectionBatches, onSection);
  return {
    concurrency: CONCURRENCY,
    withoutFaults: await run(PARTS.withoutFaults),
    withCrashes: await run(PARTS.withCrashes),
    withLostAnswers: await run(PARTS.withLostAnswers),
    ofHundred: await run(PARTS.ofHundred),
  };
}

async function runPart(
  endpoint: string,
  { sections, planFaults, batches = Number.POSITIVE_INFINITY, size, work, concurrency = CONCURRENCY }: Part,
  sectionBatches: number,
  onSection: () => void,
): Promise<PartFigures> {
  const ofSection = Math.min(sectionBatches, batches);
  const stream = messageStream(sections * ofSection, concurrency, size);
  const sectionMessages = stream.length / sections;
  const meter = await createMeter(endpoint);
  const time = new SkippableTime();
  const trials: [name: string, trial: Trial][] = [];
  for (const [name, contestant] of Object.entries(CONTESTANTS)) {
    const setup = { ...contestant, endpoint, meter, time, concurrency, faultOf: planFaults(), size, work };
    trials.push([name, await Trial.create(setup)]);
  }
  time.start();
  try {
    for (let section = 0; section < sections; section++) {
      const messages = stream.slice(section * sectionMessages, (section + 1) * sectionMessages);
      const first = section % trials.length;
      for (const [, trial] of [...trials.slice(first), ...trials.slice(0, first)]) {
        await trial.consume(messages, () => time.skip(VISIBILITY_SECONDS * 1000));
      }
      onSection();
    }
  } finally {
    time.stop();
  }
  const results: Record<string, TrialResult> = {};
  for (const [name, trial] of trials) results[name] = await trial.end(stream);
  const places = placesOf(stream, concurrency, size);
  const orders = stream.length - places.sameBatch - places.nextBatches - places.later;
  return { sections, messages: stream.length, orders, places, results };
}

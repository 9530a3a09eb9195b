// `npm run bench`: counts and times onceonly beside Powertools for AWS Lambda on one engine in one run, prints the result
// and writes it into docs/benchmarks.md. `npm run bench -- --only batch` renews the section about batches alone.
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type DynamoDBEngine, startDynamoDB } from "../lib/local/dynamodb-engine.ts";
import { connect } from "../test/dynamodb/tables.ts";
import { BATCH_STEPS, type BatchFigures, compareBatches } from "./batch/compare-batches.ts";
import { capacityPaths } from "./capacity/paths.ts";
import { createWorld } from "./contestants/world.ts";
import { meteredClient } from "./metering/metered-client.ts";
import { type Progress, startProgress } from "./progress.ts";
import { batchSection } from "./report/batch-section.ts";
import type { CountedPath } from "./report/capacity-table.ts";
import { benchmarksDocument, type Figures } from "./report/document.ts";
import { replaceSection } from "./report/markdown.ts";
import { onceonlyBundle, powertoolsBundle } from "./size/entries.ts";
import { speedContestants } from "./timing/contestants.ts";
import { IMPORT_ROUNDS, importTimes } from "./timing/import-time.ts";
import { compareSpeed, SPEED_ROUNDS } from "./timing/speed.ts";
import { versionsOf } from "./versions.ts";

const DOCUMENT = new URL("../docs/benchmarks.md", import.meta.url);
const BUNDLES = 2;

process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";

const { only } = parseArgs({ options: { only: { type: "string" } } }).values;
if (only !== undefined && only !== "batch")
  throw new Error(`--only takes "batch", got ${JSON.stringify(only)}`);

const engine = await startDynamoDB({ endpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB });
try {
  const text = only === "batch" ? await renewBatchSection(engine) : benchmarksDocument(await measure(engine));
  writeFileSync(DOCUMENT, text);
  console.log(`${text}\nwritten to docs/benchmarks.md`);
} finally {
  await engine.stop();
}

async function measure(engine: DynamoDBEngine): Promise<Figures> {
  const metered = await meteredClient(engine.endpoint);
  const paths = capacityPaths(metered, await createWorld(metered.client));
  const progress = startProgress(paths.length + BATCH_STEPS + BUNDLES + IMPORT_ROUNDS + SPEED_ROUNDS);
  try {
    const counted: CountedPath[] = [];
    for (const { name, onceonly, powertools, powertoolsRemark } of paths) {
      counted.push({
        name,
        onceonly: await onceonly(),
        powertools: await powertools?.(),
        powertoolsRemark,
      });
      progress.step("requests and capacity");
    }
    const bundles = await measureBundles(progress);
    const codes = { onceonly: bundles.onceonly.code, powertools: bundles.powertools.code };
    const importMs = importTimes(codes, () => progress.step("import time"));
    const world = await createWorld(connect(engine.endpoint));
    const speeds = await compareSpeed(speedContestants(world), () => progress.step("latency and throughput"));
    const batch = await measureBatches(engine, progress);
    return { versions: versionsOf(engine), paths: counted, batch, bundles, importMs, speeds };
  } finally {
    progress.end();
  }
}

async function measureBundles(progress: Progress): Promise<Figures["bundles"]> {
  const onceonly = await onceonlyBundle();
  progress.step("bundles");
  const powertools = await powertoolsBundle();
  progress.step("bundles");
  return { onceonly, powertools };
}

function measureBatches({ endpoint }: DynamoDBEngine, progress: Progress): Promise<BatchFigures> {
  return compareBatches(endpoint, () => progress.step("batches of messages"));
}

async function renewBatchSection(engine: DynamoDBEngine): Promise<string> {
  const progress = startProgress(BATCH_STEPS);
  try {
    const section = batchSection(await measureBatches(engine, progress));
    return replaceSection(readFileSync(DOCUMENT, "utf8"), section);
  } finally {
    progress.end();
  }
}

// `npm run bench`: counts and times onceonly beside Powertools idempotency on one engine in one run, prints the
// result and writes it into docs/benchmarks.md.
import { writeFileSync } from "node:fs";
import { type DynamoDBEngine, startDynamoDB } from "../lib/local/dynamodb-engine.ts";
import { connect } from "../test/dynamodb/tables.ts";
import { capacityPaths } from "./capacity/paths.ts";
import { createWorld } from "./contestants/world.ts";
import { meteredClient } from "./metering/metered-client.ts";
import { type Progress, startProgress } from "./progress.ts";
import type { CountedPath } from "./report/capacity-table.ts";
import { benchmarksDocument, type Figures } from "./report/document.ts";
import { onceonlyBundle, powertoolsBundle } from "./size/entries.ts";
import { speedContestants } from "./timing/contestants.ts";
import { IMPORT_ROUNDS, importTimes } from "./timing/import-time.ts";
import { compareSpeed, SPEED_ROUNDS } from "./timing/speed.ts";
import { versionsOf } from "./versions.ts";

const DOCUMENT = new URL("../docs/benchmarks.md", import.meta.url);
const BUNDLES = 2;

process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";

const engine = await startDynamoDB({ endpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB });
try {
  const text = benchmarksDocument(await measure(engine));
  writeFileSync(DOCUMENT, text);
  console.log(`${text}\nwritten to docs/benchmarks.md`);
} finally {
  await engine.stop();
}

async function measure(engine: DynamoDBEngine): Promise<Figures> {
  const metered = await meteredClient(engine.endpoint);
  const paths = capacityPaths(metered, await createWorld(metered.client));
  const progress = startProgress(paths.length + BUNDLES + IMPORT_ROUNDS + SPEED_ROUNDS);
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
    return { versions: versionsOf(engine), paths: counted, bundles, importMs, speeds };
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

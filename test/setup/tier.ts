// How much a run does: `npm run verify:full` sets ONCEONLY_TIER=full, `npm run test:unit` sets ONCEONLY_TIER=unit, and
// `npm run test:long` sets ONCEONLY_TIER=long. Without the variable, as in `npm test`, what is long runs in its short form.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const isFull = process.env.ONCEONLY_TIER === "full";
export const isUnit = process.env.ONCEONLY_TIER === "unit";
export const isLong = process.env.ONCEONLY_TIER === "long";

/** The first value in every run, the second value in `npm run verify:full`. */
export const inTier = <T>(short: T, full: T): T => (isFull ? full : short);

const test = fileURLToPath(new URL("..", import.meta.url));
const HELPERS = ["test", "bench", "kit"].map((folder) => join(test, "..", folder, "/"));
/** Names what it looks for. */
const THIS_FILE = fileURLToPath(import.meta.url);

/** The other folders model AWS, synthesize, or start something. */
const FOLDERS = /^(client|core|fakes|kit|lambda|lean|messaging|observe|setup|testing)\//;
/** An engine, a process or a thread; a bundle is made by a process too. */
const STARTS = /\binject\(|"node:(child_process|worker_threads)"|"esbuild"/;
/** Start nothing, but take long. */
const LEFT_OUT =
  /(^|\/)(groups-under-faults|simulator|races|fingerprint-limits|middleware-permutations|outbox-order|message-properties|hooks-fuzz)\.test\.ts$/;

/** A simulation that runs replaces the time of its process for good: such a file has a process of its own. */
const SIMULATIONS = /^(explorer|simulator)\//;
const SIMULATES = /\bnew Simulator\(|\bexplore\(/;
/** Has an `explore` of its own; simulates in processes of its own. */
const SIMULATES_NOT = /^(model|package)\//;
/** The SDK remembers the first Region of a process, and others compare a process with one that never simulated. */
const ALONE = /"AWS_REGION"|\b(install|remove)Patches\(/;
/** Powertools writes into the environment as it is imported. */
const WRITES_ENVIRONMENT = /@aws-lambda-powertools|migrating-from-powertools/;

/** Whole files that only `npm run verify:full` runs; test/README.md says why. */
export const FULL = [
  "bench/measure/batch/trial",
  "bench/measure/canned/canned-dynamodb",
  "bench/show/explore/page",
  "bench/show/load/running-service",
  "cdk/everything",
  "cdk/without-cdk/validated",
  "functions/redeliveries",
  "local/stack/ticket-office",
  "model/canonical",
  "valkey/cluster-failover",
].map((name) => `test/${name}.test.ts`);

/**
 * Whole files that `npm test` leaves to `npm run test:long`: few files, and more than a quarter of the processor time.
 * `npm run verify`, and so CI, runs both.
 */
export const LONG = [
  "aws/dynamodb/engines",
  "bench/measure/servers/compare-servers",
  "bench/show/compare/red-team",
  "bench/show/demo/run",
  "bench/show/load/run",
  "cdk/commonjs-packages",
  "cdk/foreign-apps",
  "cdk/terminal",
  "cli/console/acts",
  "cli/console/command",
  "cli/console/page",
  "cli/drills",
  "consumers/brokers",
  "dynamodb/client-matrix",
  "dynamodb/passed-clients",
  "dynamodb/saga-crashes",
  "explorer/foreign",
  "explorer/own-layers",
  "functions/canary",
  "lambda/middy/middleware-permutations",
  "local/stack/command-line",
  "local/stack/parcel-service",
  "local/stack/shop-stages",
  "package/command",
  "package/consumers",
  "package/migration",
  "package/old-commonjs",
  "package/oldest-cdk",
  "package/readme",
  "package/supply-chain",
  "package/tutorial",
  "package/typescript",
  "postgres/model",
  "simulator/outbox-destinations",
].map((name) => `test/${name}.test.ts`);

/** Test files that start nothing, nor does a helper in test, bench or kit that they import. */
export function unitTests(): string[] {
  return sharing()
    .filter((file) => FOLDERS.test(file) && !LEFT_OUT.test(file) && !reaches(file, STARTS))
    .map((file) => `test/${file}`);
}

/** Test files that share a process; test/setup/no-traces.ts holds them to leaving it as they found it. */
export function sharingTests(): string[] {
  return sharing().map((file) => `test/${file}`);
}

function sharing(): string[] {
  return testFiles().filter((file) => !simulates(file) && !isAlone(file));
}

function testFiles(): string[] {
  return readdirSync(test, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".test.ts"));
}

function simulates(file: string): boolean {
  return SIMULATIONS.test(file) || (!SIMULATES_NOT.test(file) && reaches(file, SIMULATES));
}

function isAlone(file: string): boolean {
  return ALONE.test(sourceOf(join(test, file))) || reaches(file, WRITES_ENVIRONMENT);
}

/** Whether a test file, or a helper in test, bench or kit that it imports, has such a text. */
function reaches(file: string, text: RegExp): boolean {
  const seen = new Set<string>();
  const search = (path: string): boolean => {
    if (seen.has(path)) return false;
    seen.add(path);
    const source = sourceOf(path);
    return text.test(source) || helpersOf(path, source).some(search);
  };
  return search(join(test, file));
}

function helpersOf(file: string, source: string): string[] {
  return [...source.matchAll(/\b(?:from|import) "(\.[^"]+\.ts)"/g)]
    .map(([, path = ""]) => resolve(dirname(file), path))
    .filter((path) => HELPERS.some((folder) => path.startsWith(folder)))
    .filter((path) => path !== THIS_FILE && existsSync(path));
}

const sources = new Map<string, string>();

function sourceOf(path: string): string {
  const source = sources.get(path) ?? readFileSync(path, "utf8");
  sources.set(path, source);
  return source;
}

// How much a run does: `npm run verify:full` sets ONCEONLY_TIER=full, `npm run test:unit` sets ONCEONLY_TIER=unit, and
// `npm run test:long` sets ONCEONLY_TIER=long. Without the variable, as in `npm test`, what is long runs in its short form.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const isFull = process.env.ONCEONLY_TIER === "full";
export const isUnit = process.env.ONCEONLY_TIER === "unit";
export const isLong = process.env.ONCEONLY_TIER === "long";

/** The first value in every run, the second value in `npm run verify:full`. */
export const inTier = <T>(short: T, full: T): T => (isFull ? full : short);

const root = fileURLToPath(new URL("../..", import.meta.url));
/** A test file or a helper, which a package keeps outside of its `lib`. */
const TESTS = /^(test|packages\/(?!\w+\/lib\/))/;
const isOfPackage = (file: string) => file.startsWith("packages/");
/** Names what it looks for. */
const THIS_FILE = "test/setup/tier.ts";

/** The other folders synthesize or start something. */
const FOLDERS = /^test\/(client|core|kit|lambda|lean|messaging|observe|setup|testing)\//;
/** An engine, a process or a thread; a bundle is made by a process too. */
const STARTS = /\binject\(|"node:(child_process|worker_threads)"|"esbuild"/;
/** Start nothing, but take long. */
const LEFT_OUT =
  /\/(groups-under-faults|simulator|races|fingerprint-limits|middleware-permutations|outbox-order|message-properties|hooks-fuzz)\.test\.ts$/;

/** A simulation that runs replaces the time of its process for good: such a file has a process of its own. */
const SIMULATIONS = /^packages\/explorer\/test\/(explorer|simulator)\//;
const SIMULATES = /\bnew Simulator\(|\bexplore\(/;
/** Has an `explore` of its own; simulates in processes of its own. */
const SIMULATES_NOT = /^(packages\/proof\/model|test\/package)\//;
/** The SDK remembers the first Region of a process, and others compare a process with one that never simulated. */
const ALONE = /"AWS_REGION"|\b(install|remove)Patches\(/;
/** Powertools writes into the environment as it is imported. */
const WRITES_ENVIRONMENT = /@aws-lambda-powertools|migrate-from-powertools/;

/** Whole files that only `npm run verify:full` runs; test/README.md says why. */
export const FULL = [
  "packages/proof/test/measure/batch/trial",
  "packages/proof/test/measure/canned/canned-dynamodb",
  "packages/proof/test/show/explore/page",
  "packages/proof/test/show/foreign/page",
  "packages/proof/test/show/load/running-service",
  "test/cdk/everything",
  "test/cdk/without-cdk/validated",
  "test/functions/redeliveries",
  "packages/explorer/test/explorer/foreign",
  "packages/local/test/stack/parcel-service",
  "packages/local/test/stack/shop-stages",
  "packages/proof/test/measure/servers/compare-servers",
  "test/package/old-commonjs",
  "packages/local/test/stack/ticket-office",
  "packages/proof/model/canonical",
  "test/valkey/cluster-failover",
  "test/package/oldest-cdk",
  "test/copies/helpers",
  "packages/explorer/test/explorer/advice-in-databases",
  "test/site/browser",
  "test/site/links",
  "test/cdk/foreign-apps",
  "test/cdk/terminal",
  "test/tracers/tracers",
  "packages/cli/test/console/drills",
  "test/package/tutorial",
  "packages/proof/test/show/load/run",
  "packages/cli/test/console/acts",
  "test/dynamodb/client-matrix",
  "packages/explorer/test/simulator/outbox-destinations",
].map((name) => `${name}.test.ts`);

/**
 * Whole files that `npm test` leaves to `npm run test:long`: few files, and more than a quarter of the processor time.
 * `npm run verify`, and so CI, runs both.
 */
export const LONG = [
  "packages/proof/test/show/compare/red-team",
  "test/consumers/brokers",
  "test/postgres/model",
  "packages/explorer/test/aws/dynamodb/engines",
  "packages/proof/test/show/demo/run",
  "test/cdk/commonjs-packages",
  "packages/cli/test/console/command",
  "packages/cli/test/console/page",
  "packages/cli/test/drills",
  "test/docs/guides",
  "test/dynamodb/own-client-contract",
  "test/dynamodb/passed-clients",
  "test/dynamodb/saga-crashes",
  "packages/explorer/test/explorer/own-layers",
  "test/functions/canary",
  "test/lambda/middy/middleware-permutations",
  "packages/local/test/stack/code-changes",
  "packages/local/test/stack/command-line",
  "test/package/command",
  "test/package/consumers",
  "test/package/migration",
  "test/package/missing-peers",
  "test/package/readme",
  "test/package/supply-chain",
  "test/package/typescript",
].map((name) => `${name}.test.ts`);

/** Test files of the library that start nothing, nor does a helper that they import. */
export function unitTests(): string[] {
  return sharingTests("library").filter(
    (file) => FOLDERS.test(file) && !LEFT_OUT.test(file) && !reaches(file, STARTS),
  );
}

/** Test files that share a process; test/setup/no-traces.ts holds them to leaving it as they found it. */
export function sharingTests(of: "library" | "packages"): string[] {
  return testFiles()
    .filter((file) => isOfPackage(file) === (of === "packages"))
    .filter((file) => !simulates(file) && !isAlone(file));
}

function testFiles(): string[] {
  return ["test", "packages"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .map((file) => `${folder}/${file}`)
      .filter((file) => file.endsWith(".test.ts") && !file.includes("node_modules")),
  );
}

function simulates(file: string): boolean {
  return SIMULATIONS.test(file) || (!SIMULATES_NOT.test(file) && reaches(file, SIMULATES));
}

function isAlone(file: string): boolean {
  return ALONE.test(sourceOf(file)) || reaches(file, WRITES_ENVIRONMENT);
}

/** Whether a test file, or a helper that it imports, has such a text. */
function reaches(file: string, text: RegExp): boolean {
  const seen = new Set<string>();
  const search = (path: string): boolean => {
    if (seen.has(path)) return false;
    seen.add(path);
    const source = sourceOf(path);
    return text.test(source) || helpersOf(path, source).some(search);
  };
  return search(file);
}

function helpersOf(file: string, source: string): string[] {
  return [...source.matchAll(/\b(?:from|import) "(\.[^"]+\.ts)"/g)]
    .map(([, path = ""]) => relative(root, resolve(root, dirname(file), path)).replaceAll("\\", "/"))
    .filter((path) => TESTS.test(path) && path !== THIS_FILE && existsSync(join(root, path)));
}

const sources = new Map<string, string>();

function sourceOf(file: string): string {
  const source = sources.get(file) ?? readFileSync(join(root, file), "utf8");
  sources.set(file, source);
  return source;
}

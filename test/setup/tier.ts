// How much a run does: `npm run verify:full` sets ONCEONLY_TIER=full, `npm run test:unit` sets ONCEONLY_TIER=unit. Without
// the variable, as in `npm test`, what is long runs in its short form.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const isFull = process.env.ONCEONLY_TIER === "full";
export const isUnit = process.env.ONCEONLY_TIER === "unit";

/** The first value in every run, the second value in `npm run verify:full`. */
export const inTier = <T>(short: T, full: T): T => (isFull ? full : short);

const test = fileURLToPath(new URL("..", import.meta.url));
const HELPERS = ["test", "bench", "kit"].map((folder) => join(test, "..", folder, "/"));

/** The other folders model AWS, synthesize, or start something. */
const FOLDERS = /^(client|core|fakes|kit|lambda|lean|messaging|observe|setup|testing)\//;
/** An engine, a process or a thread; a bundle is made by a process too. */
const STARTS = /\binject\(|"node:(child_process|worker_threads)"|"esbuild"/;
/** Start nothing, but take long. */
const LEFT_OUT =
  /(^|\/)(groups-under-faults|simulator|races|fingerprint-limits|middleware-permutations|outbox-order|message-properties|hooks-fuzz)\.test\.ts$/;

/** Tests without state in modules, timers or patches of their own: their files share what they import. */
const SHARING = /^(aws|cdk|client|core|docs|dynamodb|messaging|model|observe|why-not)\//;
/** A simulation that runs replaces the time of its process for good, and the SDK remembers the first Region of a process. */
const LEAVES_TRACES = /\bnew Simulator\(|\bexplore\(|"AWS_REGION"/;

/** Whole files that only `npm run verify:full` runs; test/README.md says why. */
export const FULL = [
  "bench/measure/batch/trial",
  "bench/measure/canned/canned-dynamodb",
  "bench/show/explore/page",
  "bench/show/load/running-service",
  "cdk/everything",
  "functions/redeliveries",
  "local/stack/ticket-office",
  "model/canonical",
].map((name) => `test/${name}.test.ts`);

/** Test files that start nothing, nor does a helper in test, bench or kit that they import. */
export function unitTests(): string[] {
  return testFiles()
    .filter((file) => FOLDERS.test(file) && !LEFT_OUT.test(file) && !leavesTraces(file))
    .filter((file) => !starts(join(test, file), new Set()))
    .map((file) => `test/${file}`);
}

/** Test files that share a process; test/setup/no-traces.ts holds them to leaving it as they found it. */
export function sharingTests(): string[] {
  return testFiles()
    .filter((file) => SHARING.test(file) && !leavesTraces(file))
    .map((file) => `test/${file}`);
}

function testFiles(): string[] {
  return readdirSync(test, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".test.ts"));
}

function leavesTraces(file: string): boolean {
  return LEAVES_TRACES.test(readFileSync(join(test, file), "utf8"));
}

function starts(file: string, seen: Set<string>): boolean {
  if (seen.has(file)) return false;
  seen.add(file);
  const source = readFileSync(file, "utf8");
  const helpers = [...source.matchAll(/\bfrom "(\.[^"]+\.ts)"/g)].map(([, path = ""]) =>
    resolve(dirname(file), path),
  );
  const own = helpers.filter((path) => HELPERS.some((folder) => path.startsWith(folder)));
  return STARTS.test(source) || own.some((path) => starts(path, seen));
}

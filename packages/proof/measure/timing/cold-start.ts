// Cold starts: a fresh process imports a bundled function and calls it once. The functions take turns, on each installed
// version of Node, so a slow moment of the machine affects all of them.
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { connect, createTable } from "../../../../test/kit/tables.ts";
import { guardDirectory } from "../../../local/lib/process-guard.ts";
import { type CannedDynamoDB, startCannedDynamoDB } from "../canned/canned-dynamodb.ts";
import { recordAnswers } from "../canned/record-answers.ts";
import { postOrder } from "../contestants/lambda-call.ts";
import { byEffort, type Effort } from "../effort.ts";
import { bundleFunction, FUNCTIONS } from "../size/functions.ts";

const PAIRS = { quick: 3, short: 8, full: 30 };
const NODES = [20, 22, 24] as const;

export interface ColdStarts {
  /** The version of Node. */
  readonly version: string;
  /** Processor time of import and first call, by the function's name, in the order of the rounds. */
  readonly withSdk: Readonly<Record<string, readonly number[]>>;
  /** The same with the SDK left to the installed one. */
  readonly withoutSdk: Readonly<Record<string, readonly number[]>>;
}

/** By major version; for a version that could not be installed, the reason. */
export type ColdStartFigures = Readonly<Record<number, ColdStarts | { readonly absent: string }>>;

/** Inside node_modules, so the bundles find the SDK that they leave out. */
const folder = fileURLToPath(new URL("../../../../node_modules/.cache/onceonly-bench/", import.meta.url));

const START = `
const [path, event] = process.argv.slice(2);
const before = process.cpuUsage();
const { handler } = await import(path);
const answer = await handler(JSON.parse(event), { getRemainingTimeInMillis: () => 30_000 });
const { user, system } = process.cpuUsage(before);
if (answer.body === undefined && answer.order === undefined) throw new Error("no answer");
console.log((user + system) / 1000);
process.exit();
`;

interface Start {
  readonly path: string;
  readonly table: string;
}

export const coldStartSteps = (effort: Effort) => byEffort(effort, PAIRS);

/** @param onRound called `coldStartSteps` times */
export async function compareColdStarts(
  engine: string,
  effort: Effort,
  onRound: () => void,
): Promise<ColdStartFigures> {
  const nodes = effort === "quick" ? NODES.slice(0, 1) : NODES;
  const found = new Map(nodes.map((major) => [major, nodeOf(major)]));
  mkdirSync(folder, { recursive: true });
  try {
    writeFileSync(`${folder}start.mjs`, START);
    const starts = await writeFunctions(engine);
    const exchanges = await recordAnswers(engine, async (endpoint) => {
      for (const start of Object.values(starts.withSdk)) await takeStart(process.execPath, start, endpoint);
    });
    const canned = await startCannedDynamoDB(exchanges);
    try {
      return await rounds(found, starts, canned, coldStartSteps(effort), onRound);
    } finally {
      canned.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const WAYS = ["withSdk", "withoutSdk"] as const;
type Starts = Readonly<Record<(typeof WAYS)[number], Readonly<Record<string, Start>>>>;

async function writeFunctions(engine: string): Promise<Starts> {
  const client = connect(engine);
  const starts: Record<(typeof WAYS)[number], Record<string, Start>> = { withSdk: {}, withoutSdk: {} };
  for (const [nth, [name, each]] of Object.entries(FUNCTIONS).entries()) {
    const table = await createTable(client, each.partitionKey);
    for (const way of each.needsSdk ? WAYS : (["withSdk"] as const)) {
      const path = `${folder}${way}-${nth}.mjs`;
      writeFileSync(path, await bundleFunction(each, way === "withSdk"));
      starts[way][name] = { path, table };
    }
  }
  client.destroy();
  return starts;
}

async function rounds(
  nodes: ReadonlyMap<number, ReturnType<typeof nodeOf>>,
  starts: Starts,
  { endpoint, asked }: CannedDynamoDB,
  count: number,
  onRound: () => void,
): Promise<ColdStartFigures> {
  const all = WAYS.flatMap((way) =>
    Object.entries(starts[way]).map(([name, start]) => ({ way, name, start })),
  );
  const noneYet = (way: (typeof WAYS)[number]) =>
    Object.fromEntries(Object.keys(starts[way]).map((name) => [name, [] as number[]]));
  const taken = new Map(
    [...nodes.keys()].map((major) => [
      major,
      { withSdk: noneYet("withSdk"), withoutSdk: noneYet("withoutSdk") },
    ]),
  );
  for (let round = 0; round < count; round++) {
    for (const [major, node] of nodes) {
      if (typeof node !== "string") continue;
      const first = round % all.length;
      for (const { way, name, start } of [...all.slice(first), ...all.slice(0, first)]) {
        await asked();
        taken.get(major)?.[way][name]?.push(await takeStart(node, start, endpoint));
        const { PutItem, UpdateItem } = await asked();
        if (PutItem !== 1 || UpdateItem !== 1)
          throw new Error(`"${name}" did not do its work in a cold start`);
      }
    }
    onRound();
  }
  const figures: Record<number, ColdStartFigures[number]> = {};
  for (const [major, node] of nodes) {
    figures[major] =
      typeof node === "string"
        ? { version: execFileSync(node, ["--version"], { encoding: "utf8" }).trim(), ...taken.get(major)! }
        : node;
  }
  return figures;
}

async function takeStart(node: string, { path, table }: Start, endpoint: string): Promise<number> {
  const event = JSON.stringify(postOrder(crypto.randomUUID()));
  const env = {
    ...process.env,
    TABLE: table,
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: "eu-central-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
  };
  const { stdout } = await promisify(execFile)(node, [`${folder}start.mjs`, path, event], {
    cwd: folder,
    env,
  });
  return Number(stdout);
}

function nodeOf(major: number): string | { readonly absent: string } {
  if (Number.parseInt(process.versions.node, 10) === major) return process.execPath;
  const directory = mkdtempSync(join(tmpdir(), "onceonly-node-"));
  guardDirectory(directory);
  const script = fileURLToPath(new URL("../../../../tools/pinned-node.mjs", import.meta.url));
  try {
    const node = execFileSync(process.execPath, [script, String(major), directory], {
      encoding: "utf8",
    }).trim();
    return node || { absent: `Node ${major} could not be installed` };
  } catch {
    return { absent: `Node ${major} could not be installed` };
  }
}

// `npm run league`: runs `onceonly conform` against other libraries and ours, and writes docs/proof/league.md.
// `npm run league -- --check`: says which library has a newer version than the page, and changes nothing.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { build } from "esbuild";
import { systemClock } from "onceonly/kit";
import { connect, createTable } from "../../../../test/kit/tables.ts";
import { startValkey, valkeyVersion } from "../../../../test/kit/valkey-server.ts";
import { COMMANDS, runCommand } from "../../../cli/lib/commands.ts";
import { startDynamoDB } from "../../../local/lib/dynamodb-engine.ts";
import { type Contestant, serve, type World } from "./contestant.ts";
import { CONTESTANTS, folderOf, homeOf, pinnedVersions } from "./contestants.ts";
import { type ConformFinding, leaguePage, type Row } from "./page.ts";
import { orderBook, playTrials } from "./trials.ts";

function npm(args: readonly string[], cwd = folderOf(".")) {
  const { status, stdout, stderr } = spawnSync("npm", args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`npm ${args[0]} failed: ${stderr}`);
  return stdout.trim();
}

/** @returns whether each peer's version on the page is the newest */
function checkVersions(): boolean {
  const { onceonly: _, ...peers } = pinnedVersions();
  const old = Object.entries(peers).flatMap(([name, version]) => {
    const newest = npm(["view", name, "version"]);
    return newest === version ? [] : [`${name} ${version}: ${newest} is out`];
  });
  console.log(old.join("\n") || "every library on the page is the newest version");
  return old.length === 0;
}

async function conform(
  contestant: Contestant,
  url: string,
  effects: string,
): Promise<readonly ConformFinding[]> {
  const lines: string[] = [];
  const args = [url, "--effects", effects, "--profile", contestant.profile, "--json"];
  const callers = ["-H", "authorization: ana", "--as", "authorization: ben"];
  const print = (line: string) => void lines.push(line);
  const terminal = { print, clock: systemClock, env: {}, confirm: async () => undefined };
  await runCommand(COMMANDS.conform!, [...args, ...callers], terminal);
  return JSON.parse(lines.join("\n")).findings;
}

async function play(contestant: Contestant, world: Omit<World, "makeOrder">): Promise<Row> {
  const orders = orderBook();
  const site = await contestant.start({ ...world, makeOrder: orders.makeOrder });
  const counter = await serve((_, response) => response.end(`${orders.count()}`));
  try {
    const findings = await conform(contestant, site.url, counter.url);
    const trials = await playTrials(site.url, contestant.store === "Valkey" ? world.valkeyUrl : undefined);
    return { contestant, findings, trials, kilobytes: await kilobytesOf(contestant) };
  } finally {
    await Promise.all([site.close(), counter.close()]);
  }
}

const CLIENTS = ["@aws-sdk/*", "@smithy/*", "redis", "@redis/*", "@nestjs/*", "rxjs", "@middy/*"];

/** Of what a contestant imports, without frameworks and clients. */
async function kilobytesOf(contestant: Contestant): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: contestant.code, resolveDir: homeOf(contestant) },
    ...{ bundle: true, minify: true, write: false, platform: "node", format: "esm", external: CLIENTS },
    logLevel: "error",
  });
  return Math.round(outputFiles[0]!.contents.byteLength / 1000);
}

async function main(): Promise<void> {
  npm(["ci", "--ignore-scripts", "--no-audit", "--no-fund"], folderOf("tools/peers"));
  const [engine, valkey] = await Promise.all([startDynamoDB(), startValkey()]);
  const dynamodb = connect(engine.endpoint);
  const world = {
    dynamodb,
    createTable: (partitionKey: string) => createTable(dynamodb, partitionKey),
    valkeyUrl: `redis://127.0.0.1:${valkey.port}`,
  };
  const rows: Row[] = [];
  try {
    for (const contestant of CONTESTANTS) {
      const { library, adapter, store } = contestant;
      console.log(`${library}, ${adapter}, ${store}`);
      rows.push(await play(contestant, world));
    }
  } finally {
    await Promise.all([engine.stop(), valkey.stop()]);
  }
  const versions = { ...pinnedVersions(), "Node.js": process.versions.node, Valkey: valkeyVersion() };
  const day = new Date().toISOString().slice(0, 10);
  writeFileSync(folderOf("docs/proof/league.md"), leaguePage(rows, versions, day));
  console.log("written to docs/proof/league.md");
}

if (process.argv.includes("--check")) process.exitCode = checkVersions() ? 0 : 1;
else {
  await main();
  // Clients of peers may keep connections.
  process.exit();
}

// `npm run league`: runs `onceonly conform` against other libraries and ours, and writes docs/proof/league.md.
// `npm run league -- --check`: says which library has a newer version than the page, and changes nothing.
// `npm run league -- Powertools`: prints the page of those whose name has this text, and writes nothing.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { systemClock } from "onceonly/kit";
import {
  NO_POSTGRES,
  postgresInstallations,
  startPostgres,
  USER,
} from "../../../../test/kit/postgres-server.ts";
import { connect } from "../../../../test/kit/tables.ts";
import { startValkey, type ValkeyServer, valkeyVersion } from "../../../../test/kit/valkey-server.ts";
import { COMMANDS, runCommand } from "../../../cli/lib/commands.ts";
import { startDynamoDB } from "../../../local/lib/dynamodb-engine.ts";
import type { Contestant } from "./contestant.ts";
import { CONTESTANTS, folderOf, homeOf, pinnedVersions } from "./contestants.ts";
import { playHazards, playTime, RETENTION_SECONDS } from "./hazards.ts";
import { type ConformFinding, leaguePage, type Row } from "./page.ts";
import { openStage, type Stage, type Stores } from "./stage.ts";
import { playTrials } from "./trials.ts";

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

/** What a library that knows no HTTP leaves to its user: our adapter reads the header. */
const OF_HTTP = /^(missing-key|empty-key|control-characters|malformed-key|bare-key|two-keys)$/;

async function conform({ contestant: { profile }, url, orders }: Stage): Promise<readonly ConformFinding[]> {
  const lines: string[] = [];
  const isForeign = profile === "none";
  const convention = isForeign ? "ietf-07" : profile;
  const args = [`${url}/orders`, "--effects", orders.url, "--profile", convention, "--json"];
  const callers = ["-H", "authorization: ana", "--as", "authorization: ben"];
  const print = (line: string) => void lines.push(line);
  const terminal = { print, clock: systemClock, env: {}, confirm: async () => undefined };
  await runCommand(COMMANDS.conform!, [...args, ...callers], terminal);
  const findings: readonly ConformFinding[] = JSON.parse(lines.join("\n")).findings;
  return findings.filter(({ check }) => !(isForeign && OF_HTTP.test(check)));
}

async function play(contestant: Contestant, stores: Stores): Promise<Row> {
  const stage = await openStage(contestant, stores);
  try {
    const findings = await conform(stage);
    const trials = await playTrials(stage);
    const hazards = await playHazards(stage);
    return { contestant, findings, trials, hazards, kilobytes: await kilobytesOf(contestant) };
  } finally {
    await stage.close();
  }
}

/** Waits for leases and records to end, so all contestants wait at the same time. */
async function playTimes(contestant: Contestant, stores: Stores): Promise<Row["hazards"]> {
  const stage = await openStage(contestant, stores, RETENTION_SECONDS);
  try {
    return await playTime(stage);
  } finally {
    await stage.close();
  }
}

const CLIENTS = [
  "@aws-sdk/*",
  "@smithy/*",
  "redis",
  "@redis/*",
  "@nestjs/*",
  "rxjs",
  "@middy/*",
  "ioredis",
  "iovalkey",
  "pg",
  "postgres",
  "@valkey/*",
];

/** Of what a contestant imports, without frameworks and clients. */
async function kilobytesOf(contestant: Contestant): Promise<number | undefined> {
  if (contestant.code === undefined) return undefined;
  const { outputFiles } = await build({
    stdin: { contents: contestant.code, resolveDir: homeOf(contestant) },
    ...{ bundle: true, minify: true, write: false, platform: "node", format: "esm", external: CLIENTS },
    logLevel: "error",
  });
  return Math.round(outputFiles[0]!.contents.byteLength / 1000);
}

/** Of this process, or one of npm that is new enough for all contestants. */
function newerNode(folder: string): string {
  if (Number(process.versions.node.split(".")[0]) >= 24) return process.execPath;
  const args = [folderOf("tools/pinned-node.mjs"), "24", folder];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`two of the libraries need Node.js 24: ${stderr}`);
  return stdout.trim();
}

const nameOf = ({ library, adapter, store }: Contestant) => `${library}, ${adapter}, ${store}`;

async function main(only: string): Promise<void> {
  npm(["ci", "--ignore-scripts", "--no-audit", "--no-fund"], folderOf("tools/peers"));
  const [installation] = postgresInstallations();
  if (!installation) throw new Error(NO_POSTGRES);
  const folder = await mkdtemp(join(tmpdir(), "onceonly-league-"));
  const node = newerNode(folder);
  const [engine, postgres, ...valkeys] = await Promise.all([
    startDynamoDB(),
    startPostgres(installation),
    startValkey(),
    startValkey(),
  ]);
  const storesOf = (valkey: ValkeyServer): Stores => ({
    dynamodb: connect(engine.endpoint),
    ports: {
      DynamoDB: Number(new URL(engine.endpoint).port),
      Valkey: valkey.port,
      PostgreSQL: postgres.port,
    },
    ...{ postgresUser: USER, newerNode: node },
  });
  const contestants = CONTESTANTS.filter((each) => new RegExp(only).test(nameOf(each)));
  const rows = new Map<Contestant, Row>();
  /** One after the other, because some count the commands of their Valkey. Pollers have another one. */
  const playAll = async (valkey: ValkeyServer, arePollers: boolean) => {
    for (const contestant of contestants.filter(({ claimHas }) => (claimHas !== undefined) === arePollers)) {
      rows.set(contestant, await play(contestant, storesOf(valkey)));
      console.log(nameOf(contestant));
    }
  };
  try {
    await Promise.all([playAll(valkeys[0]!, false), playAll(valkeys[1]!, true)]);
    console.log("leases and records of all of them");
    await Promise.all(
      contestants.map(async (contestant) => {
        const hazards = await playTimes(contestant, storesOf(valkeys[0]!));
        const row = rows.get(contestant)!;
        rows.set(contestant, { ...row, hazards: { ...row.hazards, ...hazards } });
      }),
    );
  } finally {
    await Promise.all([engine, postgres, ...valkeys].map((server) => server.stop()));
    await rm(folder, { recursive: true });
  }
  const versions = {
    ...pinnedVersions(),
    "Node.js": process.versions.node,
    Valkey: valkeyVersion(),
    PostgreSQL: postgres.name.replace("PostgreSQL ", ""),
  };
  const page = leaguePage(
    contestants.map((each) => rows.get(each)!),
    versions,
    new Date().toISOString().slice(0, 10),
  );
  if (only) return console.log(page);
  writeFileSync(folderOf("docs/proof/league.md"), page);
  console.log("written to docs/proof/league.md");
}

if (process.argv.includes("--check")) process.exitCode = checkVersions() ? 0 : 1;
else {
  await main(process.argv[2] ?? "");
  // Clients of the proxies may keep connections.
  process.exit();
}

// A scripted agent over stdio, with the real MCP client and server: every refund is made once, although results are lost, plans
// are made again in other words, and servers die. The same runs without `onceTool` show that the faults do harm.
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { root } from "../kit/project.ts";
import { connect, createTable, environmentFor } from "../kit/tables.ts";
import { inTier } from "../setup/tier.ts";
import { type Counts, noCounts, ScriptedAgent } from "./scripted-agent.ts";

const RUNS = inTier(200, 10_000);
/** They share a table, and each has its own server. */
const AGENTS = inTier(2, 4);
const [engine] = inject("dynamodbEngines");

describe.skipIf(!engine)("a scripted agent", () => {
  let folder: string;
  let file: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "onceonly-agents-"));
    file = join(folder, "server.mjs");
    const entryPoints = [join(root, "test/agents/shop-server.ts")];
    await build({
      entryPoints,
      // Ajv is CommonJS.
      banner: { js: 'import{createRequire}from"node:module";const require=createRequire(import.meta.url);' },
      bundle: true,
      platform: "node",
      format: "esm",
      outfile: file,
      logLevel: "silent",
    });
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function play(runs: number, more: Readonly<Record<string, string>>) {
    const effects = join(folder, `effects-${Object.keys(more).join()}`);
    await mkdir(effects);
    const environment = { ...environmentFor(engine!.endpoint), EFFECTS: effects, ...more };
    const agents = Array.from(
      { length: AGENTS },
      (_, seed) => new ScriptedAgent(seed + 1, { file, environment }),
    );
    await Promise.all(
      agents.map(async (agent, own) => {
        for (let run = own; run < runs; run += AGENTS) await agent.refund(`order-${run}`);
        await agent.close();
      }),
    );
    const files = await readdir(effects);
    const made = await Promise.all(
      files.map(async (name) => (await readFile(join(effects, name), "utf8")).split("\n").length - 1),
    );
    const counts = agents.reduce((sum, agent) => added(sum, agent.counts), noCounts());
    return {
      ...counts,
      missingEffects: runs - files.length,
      doubledEffects: made.filter((times) => times > 1).length,
    };
  }

  it(
    "H71: runs that lose results, plan again and reconnect have no double effect, and without `onceTool` they have",
    async () => {
      const TABLE = await createTable(connect(engine!.endpoint));

      const once = await play(RUNS, { TABLE });
      const control = await play(RUNS / 4, { UNPROTECTED: "1" });

      console.table({ onceTool: once, "without it": control });
      expect(once).toMatchObject({ runs: RUNS, doubledEffects: 0, missingEffects: 0 });
      expect(control.doubledEffects).toBeGreaterThan(RUNS / 100);
      for (const happened of [once.lostResults, once.replans, once.reconnects, once.pending, once.replays]) {
        expect(happened).toBeGreaterThan(RUNS / 100);
      }
    },
    inTier(120_000, 3_600_000),
  );
});

function added(sum: Counts, more: Counts): Counts {
  const names = Object.keys(sum) as (keyof Counts)[];
  return Object.fromEntries(names.map((name) => [name, sum[name] + more[name]])) as unknown as Counts;
}

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { DYNAMODB_ENGINES } from "../lib/dynamodb-engine.ts";
import { answers } from "./given.ts";
import { folderWith, isAlive } from "./lambda/given.ts";

const HOLDER = fileURLToPath(new URL("fixtures/holder.ts", import.meta.url));
const SHORT_LIVED = fileURLToPath(new URL("fixtures/short-lived.ts", import.meta.url));

interface Held {
  readonly endpoints: string[];
  readonly function: { readonly pid: number; readonly folder: string };
}

async function startHolder(
  engines: number,
): Promise<{ held: Held; end(signal: NodeJS.Signals): Promise<unknown> }> {
  const codeDirectory = await folderWith({
    "index.mjs": "export const handler = async () => ({ pid: process.pid, folder: process.cwd() });",
  });
  const holder = spawn(process.execPath, ["--import", "tsx", HOLDER, codeDirectory, String(engines)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void holder.kill("SIGKILL"));
  const [line] = await once(holder.stdout.setEncoding("utf8"), "data");
  return {
    held: JSON.parse(line),
    end: (signal) => {
      const exited = once(holder, "exit");
      holder.kill(signal);
      return exited;
    },
  };
}

function runShortLived(mode: "stop" | "forget"): { status: number | null; endpoint: string } {
  const args = ["--import", "tsx", SHORT_LIVED, mode];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 20_000 });
  return { status, endpoint: stdout };
}

describe.each(["stop", "forget"] as const)("a program that has nothing else to do", (mode) => {
  it(`ends by itself, and the engine with it, when it comes to ${mode} the engine`, async () => {
    const { status, endpoint } = runShortLived(mode);

    expect(status).toBe(0);
    expect(endpoint).toMatch(/^http:/);
    await expect.poll(() => answers(endpoint)).toBe(false);
  });
});

describe.skipIf(process.platform === "win32")("the guard", () => {
  // The quickest engine, and for the worst signal each engine.
  it.each([
    ["SIGKILL", DYNAMODB_ENGINES.length],
    ["SIGTERM", 1],
    ["SIGINT", 1],
  ] as const)(
    "ends engines and frozen functions, and removes their folders, when their parent dies of %s",
    async (signal, engines) => {
      const { held, end } = await startHolder(engines);
      expect(await Promise.all(held.endpoints.map(answers))).toEqual(held.endpoints.map(() => true));
      expect(isAlive(held.function.pid)).toBe(true);

      await end(signal);

      for (const endpoint of held.endpoints) await expect.poll(() => answers(endpoint)).toBe(false);
      await expect.poll(() => isAlive(held.function.pid)).toBe(false);
      await expect.poll(() => existsSync(held.function.folder)).toBe(false);
    },
  );
});

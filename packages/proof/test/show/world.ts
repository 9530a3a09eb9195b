// A bench command as a separate process, and what it leaves.
import { spawn } from "node:child_process";
import { readdirSync, readlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { TestContext } from "vitest";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

export interface CommandProcessOptions {
  readonly args: readonly string[];
  /** Over our own. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Ends with the test, if it has not ended before. */
export function startCommand(
  { onTestFinished }: Pick<TestContext, "onTestFinished">,
  command: "demo" | "load",
  { args, environment = {} }: CommandProcessOptions,
) {
  const child = spawn(
    process.execPath,
    ["--import", "tsx", `packages/proof/show/${command}/main.ts`, ...args],
    {
      cwd: ROOT,
      env: { ...process.env, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  let printed = "";
  const status = new Promise<number | null>((resolve) => child.once("close", resolve));
  const said = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const check = () => printed.includes(text) && resolve();
      for (const stream of [child.stdout, child.stderr]) stream.on("data", check);
      void status.then(() => reject(new Error(`it ended without saying "${text}": ${printed}`)));
      check();
    });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      printed += chunk;
    });
  }
  return { child, said, ended: async () => ({ status: await status, printed }) };
}

/** Everything local works in a separate folder below the temporary one. */
export function processesIn(folder: string): string[] {
  return readdirSync("/proc").filter((entry) => {
    try {
      return /^\d+$/.test(entry) && readlinkSync(`/proc/${entry}/cwd`).startsWith(folder);
    } catch {
      // Another user's, or it ended a moment ago.
      return false;
    }
  });
}

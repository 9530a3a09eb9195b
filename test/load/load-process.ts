// The load as a process of its own.
import { spawn } from "node:child_process";
import { readdirSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { TestContext } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Ends with the test, if it has not ended before. */
export function startLoad(
  { onTestFinished }: Pick<TestContext, "onTestFinished">,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
) {
  const child = spawn(process.execPath, ["--import", "tsx", "bench/load/main.ts", ...args], {
    cwd: ROOT,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      printed += chunk;
    });
  }
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  return {
    child,
    ended: async () => ({ status: await exited, printed }),
    async said(text: string) {
      while (!printed.includes(text)) {
        if (child.exitCode !== null) throw new Error(`it ended without saying "${text}": ${printed}`);
        await sleep(20);
      }
    },
  };
}

/** Everything local works in a folder of its own below the temporary one. */
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

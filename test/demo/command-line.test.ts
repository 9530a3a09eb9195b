// The demo as a process of its own: what it returns, and what it leaves behind.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

function startDemo(args: string[], environment: Record<string, string> = {}) {
  const child = spawn(process.execPath, ["--import", "tsx", "bench/demo/main.ts", ...args], {
    cwd: ROOT,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let printed = "";
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  const said = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const check = () => printed.includes(text) && resolve();
      for (const stream of [child.stdout, child.stderr]) stream.on("data", check);
      void exited.then(() => reject(new Error(`it ended without saying "${text}": ${printed}`)));
    });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      printed += chunk;
    });
  }
  return { child, exited, said, printed: () => printed };
}

/** Everything local works in a folder of its own below the temporary one. */
function processesIn(folder: string): string[] {
  return readdirSync("/proc").filter((entry) => {
    try {
      return /^\d+$/.test(entry) && readlinkSync(`/proc/${entry}/cwd`).startsWith(folder);
    } catch {
      // Another user's, or it ended a moment ago.
      return false;
    }
  });
}

describe("npm run demo", () => {
  it("says what is wrong with an option and ends with status 2", async () => {
    const { exited, printed } = startDemo(["--orders", "none"]);

    expect(await exited).toBe(2);
    expect(printed()).toContain('--orders must be a whole number from 1 to 10000; got "none"');
  });

  it("leaves neither processes nor folders behind after Ctrl-C", { timeout: 120_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "demo-test-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const { child, exited, said } = startDemo(["--orders", "8"], {
      TMPDIR: folder,
      AWS_ENDPOINT_URL_DYNAMODB: "",
    });
    const leftFolders = () => readdirSync(folder).filter((name) => name.startsWith("onceonly-"));

    await said("/8 orders, ");
    if (existsSync("/proc/self/cwd")) expect(processesIn(folder)).not.toEqual([]);
    expect(leftFolders()).not.toEqual([]);
    child.kill("SIGINT");

    expect(await exited).toBe(130);
    expect(leftFolders()).toEqual([]);
    if (existsSync("/proc/self/cwd")) expect(processesIn(folder)).toEqual([]);
  });
});

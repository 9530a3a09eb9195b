// The demo as a process of its own: what it returns, and what it leaves behind.
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { startDemo } from "./demo-process.ts";

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
  it("says what is wrong with an option and ends with status 2", async (test) => {
    const { exited, printed } = startDemo(test, { args: ["--orders", "none"] });

    expect(await exited).toBe(2);
    expect(printed()).toContain('--orders must be a whole number from 1 to 10000; got "none"');
  });

  it("leaves neither processes nor folders behind after Ctrl-C", { timeout: 120_000 }, async (test) => {
    const folder = mkdtempSync(join(tmpdir(), "demo-test-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const { child, exited, said } = startDemo(test, {
      args: ["--orders", "8"],
      environment: { TMPDIR: folder, AWS_ENDPOINT_URL_DYNAMODB: "" },
    });
    const leftFolders = () => readdirSync(folder).filter((name) => name.startsWith("onceonly-"));

    await said("/8 ordered, ");
    if (existsSync("/proc/self/cwd")) expect(processesIn(folder)).not.toEqual([]);
    expect(leftFolders()).not.toEqual([]);
    child.kill("SIGINT");

    expect(await exited).toBe(130);
    expect(leftFolders()).toEqual([]);
    if (existsSync("/proc/self/cwd")) expect(processesIn(folder)).toEqual([]);
  });
});

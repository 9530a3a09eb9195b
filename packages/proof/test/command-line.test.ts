// The demo as a separate process: its exit status, and what it leaves.
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { isFull } from "../../../test/setup/tier.ts";
import { processesIn, startCommand } from "./show/world.ts";

describe("npm run demo", () => {
  it("reports what is wrong with an option and ends with status 2", async (test) => {
    const { status, printed } = await startCommand(test, "demo", { args: ["--orders", "none"] }).ended();

    expect(status).toBe(2);
    expect(printed).toContain('--orders must be a whole number from 1 to 10000; got "none"');
  });

  if (isFull) {
    it("leaves neither processes nor folders after Ctrl-C", { timeout: 120_000 }, async (test) => {
      const folder = mkdtempSync(join(tmpdir(), "demo-test-"));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      const { child, said, ended } = startCommand(test, "demo", {
        args: ["--orders", "8"],
        environment: { TMPDIR: folder, AWS_ENDPOINT_URL_DYNAMODB: "" },
      });
      const leftFolders = () => readdirSync(folder).filter((name) => name.startsWith("onceonly-"));

      await said(" of 8 answered, ");
      if (existsSync("/proc/self/cwd")) expect(processesIn(folder)).not.toEqual([]);
      expect(leftFolders()).not.toEqual([]);
      child.kill("SIGINT");

      expect(await ended()).toMatchObject({ status: 130 });
      expect(leftFolders()).toEqual([]);
      if (existsSync("/proc/self/cwd")) expect(processesIn(folder)).toEqual([]);
    });
  }
});

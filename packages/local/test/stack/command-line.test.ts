// The command line as a person runs it: in a process of its own, ended by Ctrl-C.
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { until } from "./world.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));

const TMPDIR = mkdtempSync(join(tmpdir(), "onceonly-command-line-"));
afterAll(() => rmSync(TMPDIR, { recursive: true }));

function runOnceonly(...args: string[]) {
  // The command of tsx ends a child that is slow to say that it got the signal.
  const child = spawn(process.execPath, ["--import", "tsx", "packages/cli/lib/onceonly.ts", ...args], {
    cwd: root,
    detached: true,
    env: { ...process.env, TMPDIR },
  });
  const output = { text: "" };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output.text += chunk;
    });
  }
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  // A terminal sends Ctrl-C to the whole group in the foreground.
  return { output, exited, pressCtrlC: () => process.kill(-child.pid!, "SIGINT") };
}

/** Without the cache that tsx keeps for all runs. */
const temporaryFolders = () => readdirSync(TMPDIR).filter((name) => name.startsWith("onceonly-"));

describe("onceonly start", () => {
  it("prints what runs and where, and leaves nothing running after Ctrl-C", { timeout: 90_000 }, async () => {
    const { output, exited, pressCtrlC } = runOnceonly("start", "test/fixtures/echo-app", "--port", "0");
    await until(() => output.text.includes("press Ctrl-C to stop") && output.text.includes("not run here"));
    const url = /Api {2}(http:\S+)/.exec(output.text)?.[1];
    const dynamodb = /DynamoDB {2}(http:\S+)/.exec(output.text)?.[1];
    const response = await fetch(`${url}/echo/hello`);
    const during = temporaryFolders();
    const slow = fetch(`${url}/slow`).catch(() => undefined);

    pressCtrlC();
    await exited;
    await slow;

    expect(response.status).toBe(200);
    expect(output.text).toMatch(/ANY \/echo\/\{proxy\+\}/);
    expect(output.text).toMatch(/^queue Jobs +http:\/\/127\.0\.0\.1:\d+\/000000000000\/Echo-Jobs.*\.fifo$/m);
    expect(output.text).toMatch(/stopped\n$/);
    await expect(fetch(`${url}`)).rejects.toThrow();
    await expect(fetch(`${dynamodb}`)).rejects.toThrow();
    expect(during.length).toBeGreaterThan(2);
    expect(temporaryFolders()).toEqual([]);
  });

  it("says what to do about a port in use", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => other.once("listening", resolve));
    const { port } = other.address() as AddressInfo;

    const { output, exited } = runOnceonly("start", "test/fixtures/echo-app", "--port", String(port));

    expect(await exited).toBe(1);
    expect(output.text).toContain(`port ${port} is already in use: stop the process that listens on it`);
    other.close();
  });

  it.each([["help"], ["version"]])("prints its %s, which npx leaves to it", async (name) => {
    const { output, exited } = runOnceonly(name);

    expect(await exited).toBe(0);
    expect(output.text).toMatch(name === "help" ? /^usage: onceonly <command>/ : /^\d+\.\d+\.\d+\n$/);
  });

  it.each([
    ["no command", [], "usage: onceonly <command>"],
    [
      "a port that is none",
      ["start", "--port", "http"],
      "--port must be a whole number from 0 to 65535 (got http)",
    ],
    [
      "an option that the store refuses",
      ["find", "k", "-o", "pay", "-t", "t", "--shards", "many"],
      "`shards` must be a whole number of shards",
    ],
    ["a key that is none", ["find", "undefined", "-o", "pay", "-t", "t"], "idempotency key"],
    ["context without a value", ["start", "-c", "ephemeral"], "--context must be name=value (got ephemeral)"],
  ])("refuses %s", async (_, args, message) => {
    const { output, exited } = runOnceonly(...args);

    expect(await exited).toBe(2);
    expect(output.text).toContain(message);
  });
});

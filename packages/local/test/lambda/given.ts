// Functions for the tests: their files in a temporary folder, and hosts that are stopped after each test.
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import {
  createFunctionHost,
  type FunctionHost,
  type FunctionHostOptions,
} from "../../lib/lambda/function-host.ts";
import type { InvokeResult } from "../../lib/lambda/invoke-result.ts";

/** @param files contents by path below the folder */
export async function folderWith(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "onceonly-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}

/** A host for a module that exports `handler`. */
export async function hostOf(
  source: string,
  options: Partial<FunctionHostOptions> = {},
): Promise<FunctionHost> {
  const codeDirectory = await folderWith({ "index.mjs": source });
  return hostIn({ codeDirectory, ...options });
}

export function hostIn(options: Partial<FunctionHostOptions> & { codeDirectory: string }): FunctionHost {
  const host = createFunctionHost({
    name: "under-test",
    handler: "index.handler",
    timeoutMs: 10_000,
    ...options,
  });
  onTestFinished(() => host.stop());
  return host;
}

/** What the handler returned. */
export function answerOf(result: InvokeResult): unknown {
  if (result.outcome !== "ok") throw new Error(`expected an answer, got ${result.payload}`);
  return JSON.parse(result.payload);
}

/** A process that ended but was not waited for yet is not alive; only Linux distinguishes them this way. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

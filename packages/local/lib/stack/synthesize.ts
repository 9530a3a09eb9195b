// Turns the folder of a CDK app into a cloud assembly in a temporary folder. The CDK command line that is installed for
// the app does that, or else the one of the current folder.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { resolveInstalled } from "../installed-package.ts";
import { guardDirectory, guardProcess } from "../process-guard.ts";
import { READS } from "./sam/read-template.ts";

export interface SynthesizeOptions {
  /** A folder with a cdk.json, or one that `cdk synth` wrote. */
  readonly folder: string;
  readonly context: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export interface Assembly {
  readonly folder: string;
  /** Removes the folder, unless it was there before. */
  remove(): Promise<void>;
}

const LAST_OUTPUT_LENGTH = 4_000;

/** @throws Error with the app's output, if the app can't be synthesized. */
export async function synthesize({ folder, context, signal }: SynthesizeOptions): Promise<Assembly> {
  const source = resolve(folder);
  if (existsSync(join(source, "manifest.json"))) return { folder: source, remove: async () => undefined };
  if (!existsSync(join(source, "cdk.json"))) {
    throw new Error(`no cdk.json and no template in ${source}: pass ${READS}`);
  }
  const output = await realpath(await mkdtemp(join(tmpdir(), "onceonly-stack-")));
  guardDirectory(output);
  const remove = () => rm(output, { recursive: true, force: true });
  try {
    await runCdkSynth(source, output, context, signal);
    return { folder: output, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

function runCdkSynth(
  folder: string,
  output: string,
  context: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  const contextArguments = Object.entries(context).flatMap(([key, value]) => [
    "--context",
    `${key}=${value}`,
  ]);
  // Validation is for deployments: it doubles the time and changes nothing in the template.
  const args = [
    "synth",
    "--quiet",
    "--no-validation",
    "--no-notices",
    "--output",
    output,
    ...contextArguments,
  ];
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [cdkCommand(folder), ...args], {
      cwd: folder,
      // Its telemetry leaves a file in the folder if a run is stopped.
      env: { ...process.env, CDK_DISABLE_CLI_TELEMETRY: "true" },
      stdio: ["ignore", "pipe", "pipe"],
      // Its own group, so stopping it also stops the app that it runs.
      detached: true,
    });
    guardProcess(child);
    const stop = () => child.pid !== undefined && process.kill(-child.pid, "SIGTERM");
    signal.addEventListener("abort", stop, { once: true });
    let printed = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        printed = (printed + chunk).slice(-LAST_OUTPUT_LENGTH);
      });
    }
    child.once("error", fail);
    child.once("close", (code) => {
      signal.removeEventListener("abort", stop);
      if (signal.aborted) fail(signal.reason);
      else if (code === 0) done();
      else
        fail(
          new Error(`cdk synth in ${folder} failed with exit code ${code}. Its output:\n${printed.trim()}`),
        );
    });
  });
}

function cdkCommand(folder: string): string {
  const manifest =
    resolveInstalled("aws-cdk/package.json", folder) ?? resolveInstalled("aws-cdk/package.json");
  if (manifest === undefined) {
    throw new Error(`the CDK CLI isn't installed: run "npm install --save-dev aws-cdk@2" in ${folder}`);
  }
  return join(dirname(manifest), "bin", "cdk");
}

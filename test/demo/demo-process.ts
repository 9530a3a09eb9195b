// The demo as a process of its own.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { TestContext } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export interface DemoProcessOptions {
  readonly args: readonly string[];
  /** Over our own. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Ends with the test, if it has not ended before. */
export function startDemo(
  { onTestFinished }: Pick<TestContext, "onTestFinished">,
  { args, environment = {} }: DemoProcessOptions,
) {
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

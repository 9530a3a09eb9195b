// One process of a function: Node with AWS's own runtime client, its lines of output handed on as they come.
import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { pathOf } from "../installed-package.ts";
import { guardProcess } from "../process-guard.ts";

export interface LogLine {
  readonly functionName: string;
  readonly stream: "stdout" | "stderr";
  /** One message of the console; it may have line breaks in it. */
  readonly line: string;
}

export interface RuntimeProcessOptions {
  readonly functionName: string;
  readonly environment: Record<string, string>;
  readonly taskRoot: string;
  readonly memoryMb: number;
  readonly log?: ((line: LogLine) => void) | undefined;
}

/** Node's own heap leaves room for the rest of the process in the function's memory. */
const HEAP_SHARE = 0.9;

export function startRuntimeProcess(options: RuntimeProcessOptions): ChildProcess {
  const child = spawn(
    process.execPath,
    [
      `--max-old-space-size=${Math.floor(options.memoryMb * HEAP_SHARE)}`,
      "--require",
      fileURLToPath(new URL("native-client.cjs", import.meta.url)),
      pathOf("aws-lambda-ric"),
    ],
    { cwd: options.taskRoot, env: options.environment, detached: true, stdio: ["ignore", "pipe", "pipe"] },
  );
  guardProcess(child);
  for (const stream of ["stdout", "stderr"] as const) {
    readLines(child[stream], (line) => options.log?.({ functionName: options.functionName, stream, line }));
  }
  return child;
}

/** AWS's runtime client writes the line breaks within one message as carriage returns. */
function readLines(input: Readable, onLine: (line: string) => void): void {
  let rest = "";
  input.setEncoding("utf8");
  input.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line.replaceAll("\r", "\n"));
  });
  input.on("end", () => rest && onLine(rest));
}

/**
 * As Lambda does between invocations: everything in the process stops, timers and sockets included.
 * Windows cannot stop a process; there it keeps running.
 */
export function freeze(child: ChildProcess): void {
  if (process.platform !== "win32") signalWithChildren(child, "SIGSTOP");
}

export function thaw(child: ChildProcess): void {
  if (process.platform !== "win32") signalWithChildren(child, "SIGCONT");
}

export function killProcess(child: ChildProcess): void {
  signalWithChildren(child, "SIGKILL");
}

/** The process leads its own process group, which also contains everything that it started. */
function signalWithChildren(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(process.platform === "win32" ? child.pid : -child.pid, signal);
  } catch {
    // It ended a moment ago.
  }
}

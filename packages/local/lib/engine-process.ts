// Runs an engine that speaks HTTP as a child process: in a temporary directory, until it answers, and never
// longer than our own process lives.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { guardDirectory, guardProcess } from "./process-guard.ts";

export interface EngineCommand {
  readonly name: string;
  readonly command: string;
  readonly args: (port: number) => string[];
}

export interface RunningEngine {
  /** For example `http://127.0.0.1:24000`. */
  readonly endpoint: string;
  /** Ends the process and removes its directory; calling it again does nothing. */
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 30_000;
const POLL_EVERY_MS = 15;
const PORT_TRIES = 3;

/** @throws Error with the engine's last output, if it ends before it answers. */
export async function startEngineProcess(engine: EngineCommand): Promise<RunningEngine> {
  let failure: unknown;
  for (let tries = 0; tries < PORT_TRIES; tries++) {
    try {
      return await startOnPort(engine, await freePort());
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

async function startOnPort(engine: EngineCommand, port: number): Promise<RunningEngine> {
  const directory = await mkdtemp(join(tmpdir(), `onceonly-${engine.name}-`));
  guardDirectory(directory);
  const child = spawn(engine.command, engine.args(port), {
    cwd: directory,
    // Its own group: Ctrl-C reaches us first, and we decide the order in which things stop.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  guardProcess(child);
  const output = lastOutput(child);
  const exited = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(`ended with ${signal ?? `exit code ${code}`}`));
  });
  const stop = async () => {
    child.ref();
    child.kill("SIGKILL");
    await exited;
    await rm(directory, { recursive: true, force: true });
  };

  const ending = await Promise.race([exited, answers(port)]);
  if (ending !== undefined) {
    await stop();
    throw new Error(`${engine.name} didn't start: ${ending}${output() && `; its output: ${output()}`}`);
  }
  unrefAll(child);
  return { endpoint: `http://127.0.0.1:${port}`, stop };
}

/** Resolves to nothing once the port answers HTTP, or to the reason why waiting ended. */
async function answers(port: number): Promise<string | undefined> {
  const giveUpAt = Date.now() + READY_WITHIN_MS;
  while (Date.now() < giveUpAt) {
    if (await answersHttp(port)) return undefined;
    await new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS));
  }
  return `no response on port ${port} within ${READY_WITHIN_MS / 1000} seconds`;
}

function answersHttp(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = request({ host: "127.0.0.1", port, agent: false, timeout: 5_000 }, (response) => {
      response.resume();
      resolve(true);
    });
    probe.once("error", () => resolve(false));
    probe.once("timeout", () => probe.destroy());
    probe.end();
  });
}

function lastOutput(child: ChildProcess): () => string {
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      text = (text + chunk).slice(-1_000);
    });
  }
  return () => text.trim();
}

/** A forgotten engine doesn't keep its process alive; the guard then stops it. */
function unrefAll(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdout, child.stderr]) (stream as Socket | null)?.unref();
}

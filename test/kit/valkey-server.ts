// Starts a real Valkey or Redis on loopback: the one of this machine. It keeps nothing, and ends with this process.
import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../packages/local/lib/free-port.ts";
import { guardDirectory, guardProcess } from "../../packages/local/lib/process-guard.ts";

export interface ValkeyServer {
  readonly port: number;
  /** For SIGSTOP and SIGCONT. */
  readonly pid: number;
  /** At once, as a crash does. */
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 60_000;

/** For who has none: what to install. */
export const NO_VALKEY =
  "no Valkey or Redis found: install the server of this system (apt-get install redis-server, or valkey-server)";

/** Records outlive a restart, so that a store accepts the server. */
const SETTINGS = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", "--appendfsync", "no"];

/** The program of this machine, Valkey's first; `undefined` without one of version 6.2 or later. */
export function valkeyProgram(): string | undefined {
  return ["valkey-server", "redis-server"].find((program) => {
    const { stdout } = spawnSync(program, ["--version"], { encoding: "utf8" });
    const [, major = 0, minor = 0] = (/ v=(\d+)\.(\d+)/.exec(stdout ?? "") ?? []).map(Number);
    return major > 6 || (major === 6 && minor >= 2);
  });
}

/** Such as `redis-server 7.0.15`. */
export function valkeyVersion(): string {
  const program = valkeyProgram();
  const { stdout } = spawnSync(program ?? "", ["--version"], { encoding: "utf8" });
  return `${program} ${/ v=(\S+)/.exec(stdout ?? "")?.[1]}`;
}

/** @param settings such as `["--maxmemory-policy", "allkeys-lru"]`; what comes later counts */
export async function startValkey(settings: readonly string[] = [], tries = 5): Promise<ValkeyServer> {
  const program = valkeyProgram();
  if (program === undefined) throw new Error(NO_VALKEY);
  const folder = await realpath(await mkdtemp(join(tmpdir(), "onceonly-valkey-")));
  guardDirectory(folder);
  const port = await freePort();
  const child = spawn(program, ["--port", `${port}`, "--dir", folder, ...SETTINGS, ...settings], {
    cwd: folder,
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  guardProcess(child);
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const stop = async () => {
    child.kill("SIGKILL");
    await exited;
    await rm(folder, { recursive: true, force: true });
  };
  const said: string[] = [];
  const ready = new Promise<string | undefined>((resolve) => {
    const giveUp = setTimeout(
      () => resolve(`not ready in time; it said: ${said.slice(-20)}`),
      READY_WITHIN_MS,
    );
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      said.push(chunk);
      if (!said.join("").includes("Ready to accept connections")) return;
      said.length = 0;
      clearTimeout(giveUp);
      resolve(undefined);
    });
    void exited.then(() => {
      clearTimeout(giveUp);
      resolve(`it ended; it said: ${said.slice(-20)}`);
    });
  });
  const failure = await ready;
  if (failure === undefined) return { port, pid: child.pid ?? 0, stop };
  await stop();
  // A node of a cluster listens on a second port, 10,000 higher, which any client may have been given.
  if (failure.includes("Address already in use") && tries > 1) return startValkey(settings, tries - 1);
  throw new Error(`${program} did not start: ${failure}`);
}

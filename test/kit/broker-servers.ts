// Starts a real RabbitMQ or NATS on loopback: those of this machine. They keep nothing, and end with this process.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../packages/local/lib/free-port.ts";
import { guardDirectory, guardProcess } from "../../packages/local/lib/process-guard.ts";

export type BrokerName = "RabbitMQ" | "NATS";

export interface BrokerServer {
  readonly port: number;
  /** At once, as a crash does. */
  stop(): Promise<void>;
}

interface Program {
  readonly path: string;
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** What it says when it is ready. */
  readonly ready: string;
}

const READY_WITHIN_MS = 120_000;

/** For who has none: what to install. */
export const NO_BROKER: Readonly<Record<BrokerName, string>> = {
  RabbitMQ: "no RabbitMQ found: install the server of this system (apt-get install rabbitmq-server)",
  NATS: "no NATS found: install the server of this system (apt-get install nats-server)",
};

/** The program of this machine; `undefined` without one. */
export function brokerProgram(broker: BrokerName): string | undefined {
  if (broker === "NATS") return spawnSync("nats-server", ["--version"]).error ? undefined : "nats-server";
  // The script on the path is Debian's, which knows one folder and one user. Erlang brings epmd, which it needs.
  if (spawnSync("epmd", ["-names"]).error) return undefined;
  const homes = ["/usr/lib/rabbitmq/lib", "/opt/homebrew/opt/rabbitmq/sbin/.."].flatMap((folder) =>
    existsSync(folder) ? [folder, ...readdirSync(folder).map((name) => join(folder, name))] : [],
  );
  return homes.map((home) => join(home, "sbin/rabbitmq-server")).find((path) => existsSync(path));
}

export async function startBroker(broker: BrokerName): Promise<BrokerServer> {
  const path = brokerProgram(broker);
  if (path === undefined) throw new Error(NO_BROKER[broker]);
  const folder = await realpath(await mkdtemp(join(tmpdir(), `onceonly-${broker.toLowerCase()}-`)));
  guardDirectory(folder);
  const port = await freePort();
  const parts = broker === "NATS" ? [nats(path, port, folder)] : await rabbitMq(path, port, folder);
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    await Promise.all(stops.map((each) => each()));
    await rm(folder, { recursive: true, force: true });
  };
  for (const part of parts) {
    const { failure, end } = await started(part, folder);
    stops.push(end);
    if (failure === undefined) continue;
    await stop();
    throw new Error(`${broker} did not start: ${failure}`);
  }
  return { port, stop };
}

function nats(path: string, port: number, folder: string): Program {
  return {
    path,
    args: ["-a", "127.0.0.1", "-p", `${port}`, "-js", "-sd", folder],
    ready: "Server is ready",
  };
}

/** Erlang's own daemon of names comes first: one that Erlang starts would outlive this process. */
async function rabbitMq(path: string, port: number, folder: string): Promise<Program[]> {
  const names = `${await freePort()}`;
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    LC_ALL: "C.UTF-8",
    ERL_EPMD_PORT: names,
    RABBITMQ_NODENAME: "onceonly@localhost",
    RABBITMQ_NODE_IP_ADDRESS: "127.0.0.1",
    RABBITMQ_NODE_PORT: `${port}`,
    RABBITMQ_DIST_PORT: `${await freePort()}`,
    RABBITMQ_MNESIA_BASE: folder,
    RABBITMQ_LOGS: "-",
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, "plugins"),
    RABBITMQ_CONF_ENV_FILE: join(folder, "none"),
    RABBITMQ_CONFIG_FILE: join(folder, "none"),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: "+S 1 +sbwt none -kernel inet_dist_use_interface {127,0,0,1}",
  };
  return [
    { path: "epmd", args: ["-d", "-port", names, "-address", "127.0.0.1"], ready: "epmd running" },
    { path, env, ready: "Server startup complete" },
  ];
}

async function started({ path, args = [], env = process.env, ready }: Program, cwd: string) {
  const child = spawn(path, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  guardProcess(child);
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const end = async () => {
    try {
      // With all that it has started.
      process.kill(-(child.pid ?? 0), "SIGKILL");
    } catch {
      // It has ended.
    }
    await exited;
  };
  let said = "";
  const failure = await new Promise<string | undefined>((resolve) => {
    const giveUp = setTimeout(() => resolve(`not ready in time; it said: ${said}`), READY_WITHIN_MS);
    const settle = (why?: string) => {
      clearTimeout(giveUp);
      resolve(why);
    };
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        said = (said + chunk).slice(-2000);
        if (said.includes(ready)) settle();
      });
    child.once("error", (error) => settle(error.message));
    void exited.then(() => settle(`it ended; it said: ${said}`));
  });
  return { failure, end };
}

// Puts PgBouncer in front of a PostgreSQL of this run: each transaction, and each statement alone, gets any connection of a few.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { freePort } from "../../packages/local/lib/free-port.ts";
import { guardDirectory, guardProcess } from "../../packages/local/lib/process-guard.ts";
import { ownerOf, USER } from "../kit/postgres-server.ts";

/** For who has none: what to install. */
export const NO_PGBOUNCER =
  "no PgBouncer found: tests through it do not run; install it (apt-get install pgbouncer)";

const program = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"]
  .map((folder) => join(folder, "pgbouncer"))
  .find((file) => existsSync(file));

export const hasPgBouncer = program !== undefined;

export interface PgBouncer {
  readonly port: number;
  stop(): Promise<void>;
}

export async function startPgBouncer(serverPort: number): Promise<PgBouncer> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "onceonly-pgbouncer-")));
  guardDirectory(folder);
  const port = await freePort();
  const file = join(folder, "pgbouncer.ini");
  await writeFile(
    file,
    `[databases]
postgres = host=127.0.0.1 port=${serverPort} user=${USER}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
max_client_conn = 200
`,
  );
  const child = spawn(program!, [file], {
    ...ownerOf(folder),
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  guardProcess(child);
  const exited = new Promise<string>((resolve) => child.once("exit", () => resolve("it ended")));
  let said = "";
  const up = new Promise<undefined>((resolve) => {
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
      if (said.includes("process up")) resolve(undefined);
    });
  });
  const stop = async () => {
    child.kill("SIGKILL");
    await exited;
    await rm(folder, { recursive: true, force: true });
  };
  if ((await Promise.race([up, exited])) === undefined) return { port, stop };
  await stop();
  throw new Error(`PgBouncer did not start: ${said}`);
}

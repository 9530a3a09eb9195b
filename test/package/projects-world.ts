// Empty projects with the packed tarballs installed, which are packed and installed once in a run of the tests. Nothing
// comes from a registry: peers are links to what is installed beside the tests.
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { oncePerRun } from "../kit/once-per-run.ts";
import { root } from "../kit/project.ts";
import { run } from "../kit/run.ts";
import { pack, packTarballs, type Tarball } from "./tarball-given.ts";

const CDK = join(root, "node_modules/aws-cdk/bin/cdk");
const fixtures = join(root, "test/fixtures/consumers");
/** Call the handlers of the README. */
const CALLERS = ["invoke.cjs", "charge.mjs"];
/** Declarations name types by the place of their package, which must be in the project. */
const NAMED = ["@middy/core", "@types/aws-lambda"];

/** A project that has one of our tools gets all of them. */
const OURS = /^onceonly-(cli|explorer|local)$/;

interface InstalledPackages {
  /** By the names of the packages. */
  readonly tarballs: Readonly<Record<string, Tarball>>;
  /** The node_modules that npm makes of the library's tarball; no test changes it. */
  readonly installed: string;
  /** The node_modules that npm makes of all tarballs; no test changes it. */
  readonly withTools: string;
}

export interface ConsumerProjects extends InstalledPackages {
  /** A new project each time: a copy of a fixture, with `peers`, which may be packages of ours. Answers its folder. */
  create(fixture: string, peers: readonly string[]): Promise<string>;
  /** An app as `cdk init` makes it, under this name, with `peers`. Answers its folder. */
  createCdkApp(name: string, peers: readonly string[]): Promise<string>;
  /** Copies a file of the fixtures into a project. */
  copy(fixture: string, target: string): Promise<void>;
  remove(): Promise<void>;
}

export async function prepareConsumerProjects(): Promise<ConsumerProjects> {
  const home = await realpath(await mkdtemp(join(tmpdir(), "consumers-")));
  const { tarballs, installed, withTools } = await oncePerRun("package", installPackages);

  return {
    tarballs,
    installed,
    withTools,
    create: async (fixture, peers) => {
      const project = await mkdtemp(join(home, `${fixture}-`));
      await cp(join(fixtures, fixture), project, { recursive: true });
      for (const file of CALLERS) await cp(join(fixtures, file), join(project, file));
      await install(project, peers);
      return project;
    },
    createCdkApp: async (name, peers) => {
      const project = join(await mkdtemp(join(home, "cdk-app-")), name);
      await mkdir(project);
      const init = [CDK, "init", "app", "--language", "typescript", "--generate-only", "--no-notices"];
      await run(process.execPath, init, project, { CDK_DISABLE_CLI_TELEMETRY: "true" });
      for (const file of CALLERS) await cp(join(fixtures, file), join(project, file));
      await install(project, peers);
      return project;
    },
    copy: async (fixture, target) => {
      await mkdir(dirname(target), { recursive: true });
      await cp(join(fixtures, fixture), target);
    },
    remove: () => rm(home, { recursive: true, force: true }),
  };

  async function install(project: string, peers: readonly string[]): Promise<void> {
    const ours = peers.some((peer) => OURS.test(peer)) ? withTools : installed;
    await cp(ours, join(project, "node_modules"), { recursive: true, verbatimSymlinks: true });
    for (const peer of peers.filter((peer) => !OURS.test(peer))) await linkPeer(peer, project);
  }
}

async function linkPeer(name: string, project: string): Promise<void> {
  const link = join(project, "node_modules", name);
  await mkdir(dirname(link), { recursive: true });
  const installed = join(root, "node_modules", name);
  if (NAMED.includes(name)) await cp(installed, link, { recursive: true });
  else await symlink(installed, link, "junction");
}

async function installPackages(folder: string): Promise<InstalledPackages> {
  const [{ onceonly, ...tools }, ...dependencies] = await Promise.all([
    packTarballs(folder),
    pack(join(root, "node_modules", "croner"), folder),
  ]);
  const installed = await installTarballs(join(folder, "library"), [onceonly!]);
  const all = [onceonly!, ...Object.values(tools), ...dependencies];
  const withTools = await installTarballs(join(folder, "tools"), all);
  return { tarballs: { onceonly: onceonly!, ...tools }, installed, withTools };
}

/** @returns the node_modules that npm makes */
async function installTarballs(empty: string, tarballs: readonly Tarball[]): Promise<string> {
  await mkdir(empty);
  await writeFile(join(empty, "package.json"), "{}");
  // npm asks for the optional peers, which a cache that only `npm ci` has filled lacks.
  const flags = ["--prefer-offline", "--no-audit", "--no-fund"];
  await run("npm", ["install", ...tarballs.map(({ path }) => path), ...flags], empty);
  return join(empty, "node_modules");
}

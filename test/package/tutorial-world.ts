// A reader of docs/start/tutorial.md with an empty folder: writes the files of the page, and types its commands into a shell.
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { root } from "../kit/project.ts";
import { run } from "../kit/run.ts";
import { startCommand } from "./command-world.ts";
import { linkPackage, type PackageJson, readPackageJson } from "./packages-given.ts";
import { prepareConsumerProjects } from "./projects-world.ts";

/** What stands in a code block of the page. */
export type Step = { readonly path: string; readonly code: string } | { readonly command: string };

export interface Reader {
  /** @returns what the command printed; for the local runner, once it runs */
  follow(step: Step): Promise<string>;
  close(): Promise<void>;
}

/** A command that is not typed as it stands. */
interface Otherwise {
  readonly begins: string;
  readonly why: string;
  readonly act: (command: string) => Promise<string>;
}

/** What `cdk init` asks for and is not installed here, all for the test that it makes; types have a stand-in. */
const NOT_HERE = ["@swc/core", "@swc/jest", "@types/jest"];

/** What a tarball of ours installs. */
const INSTALLS: Readonly<Record<string, readonly string[]>> = {
  onceonly: ["onceonly"],
  "onceonly-explorer": ["onceonly-explorer"],
  "onceonly-local": ["onceonly-local", "croner"],
  "onceonly-cli": ["onceonly-cli"],
};

/** As npm does it, once the package with the command is there. */
async function linkCommand(name: string, modules: string): Promise<void> {
  const { bin = {} } = await readPackageJson(join(modules, name)).catch((): PackageJson => ({}));
  if (typeof bin === "string" || bin[name] === undefined) return;
  await mkdir(join(modules, ".bin"), { recursive: true });
  await symlink(join("..", name, bin[name]), join(modules, ".bin", name)).catch(() => {});
}

/** In the order of the page. */
export function stepsOf(page: string): Step[] {
  const blocks = page.matchAll(/^`([\w/.-]+\.ts)`[^`]*?```typescript\n(.*?)^```$|^```sh\n(.*?)^```$/gms);
  return [...blocks].flatMap(([, path, code, commands = ""]): Step[] =>
    path === undefined
      ? commands
          .trim()
          .split("\n")
          .map((command) => ({ command }))
      : [{ path, code: code! }],
  );
}

export async function startReading(): Promise<Reader> {
  const projects = await prepareConsumerProjects();
  const home = await realpath(await mkdtemp(join(tmpdir(), "tutorial-")));
  const temporary = join(home, "temporary");
  await mkdir(temporary);
  // For somebody without the CDK's command line npx would ask a registry.
  await linkPackage("aws-cdk", home);
  const environment = {
    TMPDIR: temporary,
    AWS_ENDPOINT_URL_DYNAMODB: "",
    CDK_DISABLE_CLI_TELEMETRY: "true",
    npm_config_loglevel: "error",
  };
  let folder = home;
  let runner: ReturnType<typeof startCommand> | undefined;

  async function type(command: string): Promise<string> {
    const script = `${command}\nstatus=$?; echo; pwd; exit $status`;
    const { stdout } = await run("sh", ["-c", script], folder, environment);
    const [, printed = "", where = folder] = /^(.*)\n(.*)\n$/s.exec(stdout) ?? [];
    folder = where;
    return printed;
  }

  async function install(names: readonly string[]): Promise<void> {
    const modules = join(folder, "node_modules");
    for (const name of names) {
      if (!name.endsWith(".tgz")) await linkPackage(name, folder);
      // Fails where the page has not put it.
      else if (await realpath(join(folder, name))) {
        for (const own of INSTALLS[basename(name).replace(/-[\d.]+\.tgz$/, "")]!)
          await cp(join(projects.withTools, own), join(modules, own), { recursive: true });
        for (const command of ["onceonly", "onceonly-cli"]) await linkCommand(command, modules);
      }
    }
    // The CDK's bundling looks for one.
    await writeFile(join(folder, "package-lock.json"), "{}");
  }

  const otherwise: readonly Otherwise[] = [
    {
      begins: "(cd onceonly && npm ci",
      why: "npm ci asks a registry; the test's own tarball is made by the same build",
      async act(command) {
        const { scripts = {} } = await readPackageJson(root);
        const missing = [...command.matchAll(/npm run (\w+)/g)].filter(([, name = ""]) => !scripts[name]);
        if (missing.length > 0) throw new Error(`package.json has no script for ${missing.join()}`);
        await mkdir(join(folder, "onceonly"));
        const packed = [
          "onceonly",
          ...[...command.matchAll(/-w (\S+?)\)?(?= |$)/g)].map(([, name]) => name!),
        ];
        for (const name of packed) {
          const { path } = projects.tarballs[name]!;
          await cp(path, join(folder, "onceonly", basename(path)));
        }
        return "";
      },
    },
    {
      begins: "npx cdk init",
      why: "it installs from a registry; what its package.json asks for is linked",
      async act(command) {
        const printed = await type(`${command} --generate-only`);
        const { dependencies, devDependencies }: PackageJson = await readPackageJson(folder);
        const names = Object.keys({ ...dependencies, ...devDependencies, "@jest/globals": "" });
        await install(names.filter((name) => !NOT_HERE.includes(name)));
        const types = join(folder, "node_modules/@types/jest/index.d.ts");
        await projects.copy("cdk-app/stand-ins/jest-types.d.ts", types);
        return printed;
      },
    },
    {
      begins: "npm install",
      why: "it asks a registry; what it names is linked, and nothing else",
      async act(command) {
        await install(
          command
            .split(" ")
            .slice(2)
            .filter((word) => !word.startsWith("--"))
            .map((word) => word.replace(/(?<=.)@\d+$/, "")),
        );
        return "";
      },
    },
    {
      begins: "npx --no onceonly start",
      why: "somebody else may have its port",
      async act(command) {
        runner = startCommand(`${command} --port 0`, folder, environment);
        return runner.said(/^DynamoDB +http/m);
      },
    },
    {
      begins: "npx cdk deploy",
      why: "it needs an account; the local runner has synthesized the same app",
      act: async () => "",
    },
    {
      begins: "curl",
      why: "the local runner has another port",
      async act(command) {
        const [, address] = /^Api {2}http:\/\/(\S+)$/m.exec((await runner?.said(/^Api/m)) ?? "") ?? [];
        return type(command.replace("localhost:3000", address!));
      },
    },
  ];

  return {
    async follow(step) {
      if ("command" in step) {
        const { command } = step;
        return (otherwise.find(({ begins }) => command.startsWith(begins))?.act ?? type)(command);
      }
      const file = join(folder, step.path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, step.code);
      return "";
    },
    async close() {
      await runner?.pressCtrlC();
      await Promise.all([projects.remove(), rm(home, { recursive: true, force: true })]);
    },
  };
}

/** Finds packages that some commands need and a project may lack: `--help` needs none. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { UsageError } from "./command.ts";

/** The path of a module of a package, as this folder sees it or, after that, as this package does. */
export function resolveInstalled(specifier: string): string | undefined {
  for (const from of [join(process.cwd(), "package.json"), import.meta.url]) {
    try {
      return createRequire(from).resolve(specifier);
    } catch {
      // It is not installed there.
    }
  }
  return undefined;
}

/** @throws Error if the package isn't installed, with the command that installs it */
export function checkInstalled(name: string): void {
  if (resolveInstalled(name) === undefined)
    throw new Error(`${name} isn't installed: run npm install --save-dev ${name}`);
}

/** The tools that commands load: each is a package that a project installs only if it uses the command. */
interface Tools {
  readonly "onceonly-explorer": typeof import("onceonly-explorer");
  readonly "onceonly-local": typeof import("onceonly-local");
}

const LOADERS: { readonly [Name in keyof Tools]: () => Promise<Tools[Name]> } = {
  "onceonly-explorer": () => import("onceonly-explorer"),
  "onceonly-local": () => import("onceonly-local"),
};

/** @throws UsageError if the package isn't installed, with the command that installs it */
export async function loadTool<Name extends keyof Tools>(command: string, name: Name): Promise<Tools[Name]> {
  try {
    return await LOADERS[name]();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isMissing = code === "ERR_MODULE_NOT_FOUND" && message.includes(`'${name}'`);
    if (!isMissing) throw error;
    throw new UsageError(
      `${command} needs the package ${name}, which isn't installed: run npm install --save-dev ${name}`,
      {
        cause: error,
      },
    );
  }
}

// A package in a project's node_modules, as npm would install it: a link to the one that is installed beside the tests.
import { mkdir, readFile, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { root } from "../kit/project.ts";

type Names = Readonly<Record<string, string>>;

export interface PackageJson {
  readonly bin?: string | Names;
  readonly scripts?: Names;
  readonly dependencies?: Names;
  readonly devDependencies?: Names;
}

export async function readPackageJson(folder: string): Promise<PackageJson> {
  return JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
}

/** With its commands. @throws Error for a package that is not installed here */
export async function linkPackage(name: string, project: string): Promise<void> {
  const installed = join(root, "node_modules", name);
  const { bin = {} } = await readPackageJson(installed);
  const modules = join(project, "node_modules");
  await mkdir(dirname(join(modules, name)), { recursive: true });
  await linkUnlessThere(installed, join(modules, name));
  await mkdir(join(modules, ".bin"), { recursive: true });
  const commands = typeof bin === "string" ? { [name.replace(/^.*\//, "")]: bin } : bin;
  for (const [command, path] of Object.entries(commands)) {
    await linkUnlessThere(join(modules, name, path), join(modules, ".bin", command));
  }
}

async function linkUnlessThere(target: string, path: string): Promise<void> {
  await symlink(target, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
}

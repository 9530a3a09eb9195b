// The folder a function runs in, like /var/task on Lambda: a copy of its code, outside of every project. So no
// package.json above it decides how its files are read, and a dependency left out of the bundle isn't found. Only the
// AWS SDK is also there, because Lambda's Node runtimes include it.
import { cp, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { resolveInstalled } from "../installed-package.ts";
import { guardDirectory } from "../process-guard.ts";

export interface TaskRoot {
  readonly path: string;
  remove(): Promise<void>;
}

const SDK_SCOPES = ["@aws-sdk", "@smithy"];

/** @throws Error if there is no such folder */
export async function createTaskRoot(functionName: string, codeDirectory: string): Promise<TaskRoot> {
  const home = await mkdtemp(join(tmpdir(), `onceonly-${functionName.replaceAll(/[^\w-]/g, "-")}-`));
  guardDirectory(home);
  const remove = () => rm(home, { recursive: true, force: true });
  const path = join(home, "task");
  try {
    await cp(resolve(codeDirectory), path, { recursive: true, dereference: true });
    await linkSdk(join(home, "node_modules"));
  } catch (error) {
    await remove();
    throw new Error(`can't read the code of function ${functionName} at ${codeDirectory}`, {
      cause: error,
    });
  }
  return { path, remove };
}

async function linkSdk(modules: string): Promise<void> {
  const manifest = resolveInstalled("@aws-sdk/client-dynamodb/package.json");
  if (manifest === undefined) return;
  const installed = dirname(dirname(dirname(manifest)));
  await mkdir(modules);
  for (const scope of SDK_SCOPES) await symlink(join(installed, scope), join(modules, scope), "junction");
}

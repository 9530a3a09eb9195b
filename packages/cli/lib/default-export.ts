/** What a module of the person at the command line exports by default. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { UsageError } from "./command.ts";

/**
 * @param module its path, from the folder of the command
 * @throws UsageError where no file has this path, or it is no module that loads
 */
export async function defaultExport(module: string): Promise<unknown> {
  const path = resolve(module);
  if (!statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new UsageError(`there is no module ${module}: give the path of a file, such as ./store.mjs`);
  try {
    const exported: { readonly default?: unknown } = await import(pathToFileURL(path).href);
    return exported.default;
  } catch (error) {
    const why = (error as Error)?.message ?? error;
    throw new UsageError(`${module} cannot be loaded as a module of JavaScript: ${why}`, { cause: error });
  }
}

/** What a module of the person at the command line exports by default. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** @param module its path, from the folder of the command */
export async function defaultExport(module: string): Promise<unknown> {
  const exported: { readonly default?: unknown } = await import(pathToFileURL(resolve(module)).href);
  return exported.default;
}

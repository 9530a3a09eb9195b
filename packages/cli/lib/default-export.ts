/** What a module of the person at the command line exports by default. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { UsageError } from "./command.ts";
import { whyUnreadable } from "./unreadable.ts";

/**
 * @param module its path, from the folder of the command
 * @param what names the module in messages, such as `the handler module`
 * @throws UsageError if no file has this path, or the module doesn't load
 */
export async function defaultExport(module: string, what: string): Promise<unknown> {
  const path = resolve(module);
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isFile()) {
    const why = whyUnreadable({ code: found?.isDirectory() ? "EISDIR" : "ENOENT" });
    throw new UsageError(`can't read ${what} ${module}: ${why}`);
  }
  try {
    const exported: { readonly default?: unknown } = await import(pathToFileURL(path).href);
    return exported.default;
  } catch (error) {
    throw new UsageError(`can't load ${what} ${module}: ${whyNotLoaded(error)}`, { cause: error });
  }
}

const WITH_TSX = 'install tsx and set NODE_OPTIONS="--import tsx"';

/** Node.js runs TypeScript since 22.18, if its types can be erased. */
export function whyNotLoaded(error: unknown): unknown {
  const { code, message } = Object(error) as NodeJS.ErrnoException;
  if (code === "ERR_UNKNOWN_FILE_EXTENSION" && /\.[cm]?tsx?["']? for/.test(message))
    return `Node.js ${process.versions.node} doesn't run TypeScript: use Node.js 22.18 or later, or ${WITH_TSX}`;
  if (code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX")
    return `it has TypeScript syntax that Node.js can't run, such as an enum: ${WITH_TSX}`;
  return message ?? error;
}

// Compiles the sources of all packages into a folder: lib/, bin/onceonly.js and packages/*/lib, as they stand in the repository.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * @param {string} outDir
 * @param {readonly string[]} options of the compiler
 */
export function compile(outDir, options) {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const args = [tsc, "-p", join(root, "tools/tsconfig.build.json"), "--outDir", outDir, ...options];
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
  if (status !== 0) throw new Error("tsc failed: its messages are above");
  // The bundler drops a module that isn't used only if its package allows that.
  writeFileSync(join(outDir, "package.json"), '{ "type": "module", "sideEffects": false }\n');
}

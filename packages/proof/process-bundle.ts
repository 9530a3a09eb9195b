// Bundles the code that a benchmark's or campaign's processes run, as a function is bundled. So a new process starts
// quickly, on any version of Node.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { guardDirectory } from "../local/lib/process-guard.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * @param entry from the root of the repository
 * @returns the path of the bundle, in a directory that is removed when this process ends
 */
export async function bundleProcess(entry: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "onceonly-process-"));
  guardDirectory(directory);
  const outfile = join(directory, "process.mjs");
  await build({
    entryPoints: [join(root, entry)],
    absWorkingDir: root,
    bundle: true,
    outfile,
    format: "esm",
    platform: "node",
    target: "node20",
    mainFields: ["module", "main"],
    // The parts of the SDK that are CommonJS require modules of Node.
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    logLevel: "error",
  });
  return outfile;
}

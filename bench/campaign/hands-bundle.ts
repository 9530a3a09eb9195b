// Bundles what the processes of the campaign run, so that a new one is there in a moment: they are killed often.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { guardDirectory } from "../../lib/local/process-guard.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** @returns the path of the bundle, in a directory that is removed when this process ends */
export async function bundleHands(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "onceonly-campaign-"));
  guardDirectory(directory);
  const outfile = join(directory, "hands.mjs");
  await build({
    entryPoints: [join(root, "bench/campaign/hands/main.ts")],
    absWorkingDir: root,
    bundle: true,
    outfile,
    format: "esm",
    platform: "node",
    target: "node20",
    mainFields: ["module", "main"],
    alias: { onceonly: join(root, "lib/index.ts") },
    // What of the SDK is CommonJS requires modules of Node.
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    logLevel: "error",
  });
  return outfile;
}

// The sample as `npm start` synthesizes it, once in a run of the tests.
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { synthesize } from "../../packages/local/lib/stack/synthesize.ts";
import { oncePerRun } from "./once-per-run.ts";
import { root } from "./project.ts";

/** @returns a folder that `startStack` takes, for tests that do not change it */
export function sampleAssembly(): Promise<string> {
  return oncePerRun("sample", async (folder) => {
    const { signal } = new AbortController();
    const assembly = await synthesize({ folder: root, context: { ephemeral: "true" }, signal });
    // Otherwise it goes with the process that made it.
    const kept = join(folder, "cdk.out");
    await rename(assembly.folder, kept);
    return kept;
  });
}

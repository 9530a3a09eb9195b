// Bundles the functions that constructs bring along, as the build does: tests use the constructs' sources.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const script = fileURLToPath(new URL("../../tools/prebuild.mjs", import.meta.url));

export default async function setupPrebuiltFunctions(): Promise<void> {
  await promisify(execFile)(process.execPath, [script]);
}

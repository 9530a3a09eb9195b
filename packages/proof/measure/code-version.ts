// Which version of the code a section's figures describe: a hash of the bundled and minified code, so a comment doesn't make a
// figure old. The packages that the code imports aren't in it; the page lists their versions.
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { SectionName } from "./report/results.ts";
import { bundleFunction, FUNCTIONS } from "./size/functions.ts";

const FUNCTION_CODE = "functions";

/** What each section runs, from this folder. */
const CODE: { readonly [name in SectionName]: string } = {
  client: "timing/contestant-process.ts",
  engine: "timing/contestant-process.ts",
  "cold-start": FUNCTION_CODE,
  bundle: FUNCTION_CODE,
  capacity: "capacity/paths.ts",
  "hot-key": "hot-key/hot-key.ts",
  batch: "batch/compare-batches.ts",
  servers: "servers/server-process.ts",
  growth: "growth/growth.ts",
};

export type CodeVersions = { readonly [name in SectionName]: string };

export async function codeVersions(): Promise<CodeVersions> {
  const versions: Record<string, string> = {};
  for (const code of new Set(Object.values(CODE))) {
    const hash = createHash("sha256");
    for (const part of await partsOf(code)) hash.update(part);
    versions[code] = hash.digest("hex").slice(0, 12);
  }
  return Object.fromEntries(
    Object.entries(CODE).map(([name, code]) => [name, versions[code]]),
  ) as unknown as CodeVersions;
}

async function partsOf(code: string): Promise<readonly Uint8Array[]> {
  if (code === FUNCTION_CODE)
    return Promise.all(Object.values(FUNCTIONS).map((each) => bundleFunction(each, false)));
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(code, import.meta.url))],
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    logLevel: "error",
  });
  return outputFiles.map(({ contents }) => contents);
}

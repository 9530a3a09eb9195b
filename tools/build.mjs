// Builds the ESM and the CommonJS tree from the same sources, each with its types, the functions that constructs bring
// along with the notices of what they carry, and the bill of materials, into dist/ or the folder given.
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { prebuildFunctions } from "./prebuild.mjs";
import { billOfMaterials } from "./sbom.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = resolve(process.argv[2] ?? join(root, "dist"));
const tsc = join(root, "node_modules/typescript/bin/tsc");

for (const format of ["esm", "cjs"]) {
  const outDir = join(dist, format);
  rmSync(outDir, { recursive: true, force: true });
  const args = [tsc, "-p", join(root, `tools/tsconfig.${format}.json`), "--outDir", outDir];
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
// The package's own type is "module"; this folder is the exception.
writeFileSync(join(dist, "cjs/package.json"), '{ "type": "commonjs" }\n');

rmSync(join(dist, "functions"), { recursive: true, force: true });
const bundled = await prebuildFunctions(dist);
writeFileSync(join(dist, "sbom.cdx.json"), `${JSON.stringify(billOfMaterials(bundled), null, 2)}\n`);

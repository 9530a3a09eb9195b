// Builds the package into dist/, or into the folder given: modules, types, prebuilt functions, the console page, bill of materials.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { buildCommonJs } from "./build-commonjs.mjs";
import { buildConsole } from "./build-console.mjs";
import { buildModules } from "./build-modules.mjs";
import { buildTypes } from "./build-types.mjs";
import { prebuildFunctions } from "./prebuild.mjs";
import { billOfMaterials } from "./sbom.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = resolve(process.argv[2] ?? join(root, "dist"));
const work = mkdtempSync(join(tmpdir(), "onceonly-build-"));
const compiled = join(work, "js");
const declared = join(work, "declared");

try {
  for (const folder of ["esm", "cjs", "functions"]) {
    rmSync(join(dist, folder), { recursive: true, force: true });
  }
  compile(compiled, ["--removeComments"]);
  compile(declared, ["--declaration"]);
  // The bundler drops a module that nobody needs only where its package allows that.
  writeFileSync(join(compiled, "package.json"), '{ "type": "module", "sideEffects": false }\n');
  const standIns = await buildModules(declared, compiled, join(dist, "esm"));
  await buildCommonJs(compiled, join(dist, "cjs"), standIns);
  await buildTypes(declared, dist);
  const bundled = [
    ...(await prebuildFunctions(dist)),
    ...(await buildConsole(join(dist, "esm/cli/console.html"))),
  ];
  writeFileSync(join(dist, "sbom.cdx.json"), `${JSON.stringify(billOfMaterials(bundled))}\n`);
} finally {
  rmSync(work, { recursive: true, force: true });
}

function compile(outDir, options) {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const args = [tsc, "-p", join(root, "tools/tsconfig.build.json"), "--outDir", outDir, ...options];
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
  if (status !== 0) throw new Error("tsc failed: its messages are above");
}

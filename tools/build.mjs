// Builds all packages: modules, types, prebuilt functions, the console page, bill of materials. Each into its own dist/, or below
// the given folder, in the same layout as in the repository: `node tools/build.mjs [folder]`.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { buildCommonJs } from "./build-commonjs.mjs";
import { buildModules } from "./build-modules.mjs";
import { buildCommandLine, buildExplorer, buildLocal } from "./build-packages.mjs";
import { buildTypes } from "./build-types.mjs";
import { compile } from "./compile.mjs";
import { PACKAGES } from "./entries.mjs";
import { prebuildFunctions } from "./prebuild.mjs";
import { billOfMaterials } from "./sbom.mjs";

const target = resolve(process.argv[2] ?? fileURLToPath(new URL("..", import.meta.url)));
const work = mkdtempSync(join(tmpdir(), "onceonly-build-"));
const compiled = join(work, "js");
const declared = join(work, "declared");
const dist = (name) => join(target, PACKAGES[name].folder, "dist");

try {
  for (const name of Object.keys(PACKAGES)) {
    for (const folder of ["esm", "cjs", "functions"]) {
      rmSync(join(dist(name), folder), { recursive: true, force: true });
    }
  }
  compile(compiled, ["--removeComments"]);
  compile(declared, ["--declaration"]);
  await buildModules(declared, compiled, join(dist("onceonly"), "esm"));
  await buildCommonJs(compiled, join(dist("onceonly"), "cjs"));
  await buildExplorer(compiled, dist("onceonly-explorer"));
  await buildLocal(compiled, dist("onceonly-local"));
  await buildCommandLine(compiled, dist("onceonly-cli"));
  for (const [name, { isCommand }] of Object.entries(PACKAGES)) {
    if (!isCommand) await buildTypes(name, declared, dist(name));
  }
  const bundled = await prebuildFunctions(dist("onceonly"));
  writeFileSync(join(dist("onceonly"), "sbom.cdx.json"), `${JSON.stringify(billOfMaterials(bundled))}\n`);
} finally {
  rmSync(work, { recursive: true, force: true });
}

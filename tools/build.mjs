// Builds dist/: the ESM and the CommonJS tree from the same sources, each with its types.
import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";

rmSync("dist", { recursive: true, force: true });
for (const project of ["tools/tsconfig.esm.json", "tools/tsconfig.cjs.json"]) {
  execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", project], { stdio: "inherit" });
}
writeFileSync("dist/cjs/package.json", '{ "type": "commonjs" }\n');

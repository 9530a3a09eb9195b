// Turns bundled ES modules into CommonJS: the bundler splits ES modules only.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { transform } from "esbuild";
import { BUNDLING } from "./bundling.mjs";

/**
 * @param {readonly import("esbuild").OutputFile[]} files
 * @param {string} outdir
 */
export async function writeCommonJs(files, outdir) {
  for (const { path, text } of files) {
    const { code } = await transform(text, {
      format: "cjs",
      platform: "node",
      target: "node20.19",
      charset: "utf8",
      minifyWhitespace: true,
      // The bundler has kept the names that stack traces show; its own helpers need none.
      minifyIdentifiers: true,
      lineLimit: BUNDLING.lineLimit,
      // Test runners load CommonJS where `import()` is an error.
      supported: { "dynamic-import": false },
      define: { "import.meta.dirname": "__dirname" },
    });
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, code);
  }
  // The package's own type is "module"; this folder is the exception.
  writeFileSync(join(outdir, "package.json"), '{ "type": "commonjs" }\n');
}

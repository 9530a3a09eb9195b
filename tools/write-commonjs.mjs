// Turns bundled ES modules into CommonJS: the bundler splits ES modules only.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { transform } from "esbuild";

/**
 * @param {readonly import("esbuild").OutputFile[]} files
 * @param {string} outdir
 * @param {(code: string) => string} change of the code of each file
 */
export async function writeCommonJs(files, outdir, change = (code) => code) {
  for (const { path, text } of files) {
    const { code } = await transform(text, {
      format: "cjs",
      platform: "node",
      target: "node20.19",
      charset: "utf8",
      // Test runners load CommonJS, in which `import()` is an error.
      supported: { "dynamic-import": false },
      define: { "import.meta.dirname": "__dirname" },
    });
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, change(code));
  }
  // The package's own type is "module"; this folder is the exception.
  writeFileSync(join(outdir, "package.json"), '{ "type": "commonjs" }\n');
}

// Builds the CommonJS modules: a file per entry, and shared chunks. The bundler splits ES modules only, so each file is
// turned into CommonJS afterwards.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build, transform } from "esbuild";
import { BUNDLING } from "./bundling.mjs";

const ENTRIES = ["index", "cdk/index", "client/index", "lean/index", "testing/index"];

/** Loaded before aws-cdk-lib is, so it stays a file. */
const INSTALLED = "cdk/installed";

/**
 * @param {string} compiled the folder of the compiled ES modules, without comments
 * @param {string} outdir
 */
export async function buildCommonJs(compiled, outdir) {
  const { outputFiles } = await build({
    ...BUNDLING,
    absWorkingDir: compiled,
    entryPoints: Object.fromEntries([...ENTRIES, INSTALLED].map((entry) => [entry, `lib/${entry}.js`])),
    outdir,
    write: false,
    plugins: [
      {
        name: "keep installed first",
        setup({ onResolve }) {
          onResolve({ filter: /^\.\/installed\.js$/ }, ({ path }) => ({ path, external: true }));
        },
      },
    ],
  });
  for (const { path, text } of outputFiles) {
    const { code } = await transform(text, {
      format: "cjs",
      platform: "node",
      target: "node20.19",
      charset: "utf8",
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

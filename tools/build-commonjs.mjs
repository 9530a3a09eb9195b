// Builds the CommonJS modules: a file per entry, and shared chunks. The bundler splits ES modules only, so each file is
// turned into CommonJS afterwards.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build, transform } from "esbuild";
import { BUNDLING } from "./bundling.mjs";
import { ENTRIES } from "./entries.mjs";
import { STAND_INS, shareStandIns } from "./stand-ins.mjs";

/** Loaded before aws-cdk-lib is, so it stays a file. */
const INSTALLED = "cdk/installed";

/**
 * @param {string} compiled the folder of the compiled ES modules, without comments
 * @param {string} outdir
 * @param {Awaited<ReturnType<import("./stand-ins.mjs").findStandIns>>} standIns
 */
export async function buildCommonJs(compiled, outdir, { entry, names }) {
  const bundles = [
    build({
      ...BUNDLING,
      absWorkingDir: compiled,
      entryPoints: Object.fromEntries([...ENTRIES, INSTALLED].map((path) => [path, `lib/${path}.js`])),
      outdir,
      write: false,
      plugins: [keepInstalledFirst, shareStandIns(compiled, names, `../${STAND_INS}.js`)],
    }),
    build({
      ...BUNDLING,
      splitting: false,
      // Names would cost 7 KB of the tarball, for frames of the models of AWS.
      keepNames: false,
      stdin: { contents: entry, resolveDir: compiled },
      outfile: join(outdir, `${STAND_INS}.js`),
      write: false,
    }),
  ];
  for (const { path, text } of (await Promise.all(bundles)).flatMap(({ outputFiles }) => outputFiles)) {
    const { code } = await transform(text, {
      format: "cjs",
      platform: "node",
      target: "node20.19",
      charset: "utf8",
      minifyWhitespace: true,
      // The bundler has told names that stack traces show; what it added itself needs none.
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

/** @type {import("esbuild").Plugin} */
const keepInstalledFirst = {
  name: "keep installed first",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/installed\.js$/ }, ({ path }) => ({ path, external: true }));
  },
};

// Builds the library's CommonJS modules: a file per entry, and shared chunks.
import { build } from "esbuild";
import { BUNDLING } from "./bundling.mjs";
import { entriesOf } from "./entries.mjs";
import { nameMissingPeersInCommonJs } from "./needed-peers.mjs";
import { writeCommonJs } from "./write-commonjs.mjs";

/** Loaded before aws-cdk-lib is, so it stays a file. */
const INSTALLED = "cdk/installed";

/**
 * @param {string} compiled the folder of the compiled ES modules, without comments
 * @param {string} outdir
 */
export async function buildCommonJs(compiled, outdir) {
  const entries = [...entriesOf("onceonly", "cjs"), INSTALLED];
  const { outputFiles } = await build({
    ...BUNDLING,
    absWorkingDir: compiled,
    entryPoints: Object.fromEntries(entries.map((path) => [path, `lib/${path}.js`])),
    outdir,
    write: false,
    plugins: [keepInstalledFirst],
  });
  await writeCommonJs(outputFiles, outdir, nameMissingPeersInCommonJs);
}

/** @type {import("esbuild").Plugin} */
const keepInstalledFirst = {
  name: "keep installed first",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/installed\.js$/ }, ({ path }) => ({ path, external: true }));
  },
};

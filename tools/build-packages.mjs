// Builds the packages next to the library.
import { chmod, copyFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { buildConsole } from "./build-console.mjs";
import { BUNDLING } from "./bundling.mjs";
import { entriesOf, PACKAGES } from "./entries.mjs";
import { findStandIns, STAND_INS, shareStandIns } from "./stand-ins.mjs";
import { writeCommonJs } from "./write-commonjs.mjs";

/** In both formats, which load the parts that stand for AWS and time from one file: two of them would patch a process twice. */
export async function buildExplorer(compiled, dist) {
  const { folder, options } = bundling("onceonly-explorer", compiled);
  const { entry, names } = await findStandIns(folder, Object.values(options.entryPoints));
  await build({
    ...options,
    outdir: join(dist, "esm"),
    plugins: [shareStandIns(folder, names, `../../cjs/${STAND_INS}.js`)],
  });
  const outdir = join(dist, "cjs");
  const bundles = await Promise.all([
    build({
      ...options,
      outdir,
      write: false,
      plugins: [shareStandIns(folder, names, `../${STAND_INS}.js`)],
    }),
    build({
      ...BUNDLING,
      splitting: false,
      stdin: { contents: entry, resolveDir: folder },
      outfile: join(outdir, `${STAND_INS}.js`),
      write: false,
    }),
  ]);
  await writeCommonJs(
    bundles.flatMap(({ outputFiles }) => outputFiles),
    outdir,
  );
}

export async function buildLocal(compiled, dist) {
  const { options } = bundling("onceonly-local", compiled);
  await build({ ...options, outdir: join(dist, "esm") });
  // Loaded into the processes of functions, from the folder of the entry.
  const native = new URL("../packages/local/lib/lambda/native-client.cjs", import.meta.url);
  await copyFile(native, join(dist, "esm/native-client.cjs"));
}

export async function buildCommandLine(compiled, dist) {
  const { options } = bundling("onceonly-cli", compiled);
  await build({ ...options, outdir: join(dist, "esm") });
  const command = join(dist, "esm/onceonly.js");
  await chmod(command, 0o755);
  await buildConsole(join(dist, "esm/console.html"));
}

function bundling(name, compiled) {
  const folder = join(compiled, PACKAGES[name].folder);
  const entryPoints = Object.fromEntries(entriesOf(name).map((entry) => [entry, `lib/${entry}.js`]));
  return { folder, options: { ...BUNDLING, absWorkingDir: folder, entryPoints } };
}

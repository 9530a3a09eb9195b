// Builds the library's ES modules. Code that a function may import keeps a file per module, so its bundler leaves out the most.
// One file per entry costs a handler about 2 KB more. The rest is bundled: `testing`, and what servers import.
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { build, transform } from "esbuild";
import { BUNDLING } from "./bundling.mjs";
import { entriesOf } from "./entries.mjs";
import { nameMissingPeers } from "./needed-peers.mjs";

/** Servers and tests load them once and bundle nothing. */
const BUNDLED = ["consumers/index", "http/index", "postgres/index", "testing/index", "valkey/index"];
const HANDLER_ENTRIES = entriesOf("onceonly", "esm").filter((entry) => entry !== "testing/index");
/** Modules of these folders are in the entries' files, not next to them. */
const BUNDLED_FOLDERS = BUNDLED.map((entry) => `lib/${dirname(entry)}/`);

/**
 * @param {string} commented the folder of the compiled modules with comments
 * @param {string} compiled the folder of the same modules without comments
 * @param {string} outdir
 */
export async function buildModules(commented, compiled, outdir) {
  const reachedModules = await reached(
    compiled,
    HANDLER_ENTRIES.map((entry) => `lib/${entry}.js`),
  );
  const modules = new Set(
    [...reachedModules].filter((module) => !BUNDLED_FOLDERS.some((folder) => module.startsWith(folder))),
  );
  await Promise.all(
    [...modules].map((module) => writeModule(join(commented, module), join(outdir, relative("lib", module)))),
  );
  await nameMissingPeers(
    outdir,
    [...modules].map((module) => relative("lib", module)),
  );
  await build({
    ...BUNDLING,
    absWorkingDir: compiled,
    entryPoints: Object.fromEntries(BUNDLED.map((entry) => [entry, `lib/${entry}.js`])),
    outdir,
    plugins: [leaveOut(compiled, modules)],
  });
  const command = join(outdir, "onceonly.js");
  await writeModule(join(compiled, "bin/onceonly.js"), command);
  await chmod(command, 0o755);
}

/** In readable lines, without comments, but with the marks that let a bundler leave a call out. */
async function writeModule(source, target) {
  const text = await readFile(source, "utf8");
  const { code } = await transform(text, { target: "node20.19", charset: "utf8" });
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, code);
}

/** The modules that these entries import, types aside. */
async function reached(compiled, entryPoints) {
  const { metafile } = await build({
    ...BUNDLING,
    absWorkingDir: compiled,
    entryPoints,
    outdir: compiled,
    write: false,
    metafile: true,
  });
  return new Set(Object.keys(metafile.inputs));
}

/** Bundled files lie one folder deep, as entries and shared chunks, so `../` leads to the modules from all of them. */
function leaveOut(compiled, modules) {
  return {
    name: "leave out modules",
    setup({ onResolve }) {
      onResolve({ filter: /^\./ }, ({ path, importer }) => {
        const module = relative(compiled, join(dirname(importer), path)).replaceAll("\\", "/");
        return modules.has(module)
          ? {
              path: `../${relative("lib", module).replaceAll("\\", "/")}`,
              external: true,
              sideEffects: false,
            }
          : undefined;
      });
    },
  };
}

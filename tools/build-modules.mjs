// Builds the ES modules. What a function may import keeps a file per module, so that its bundler leaves out the most.
// One file per entry costs a handler about 2 KB more. The rest is bundled: `testing`, the command line, and what servers import.
import { chmod, copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { build, transform } from "esbuild";
import { BUNDLING } from "./bundling.mjs";
import { MODULE_ENTRIES } from "./entries.mjs";
import { findStandIns, STAND_INS, shareStandIns } from "./stand-ins.mjs";

const HANDLER_ENTRIES = MODULE_ENTRIES.filter((entry) => entry !== "testing/index").map(
  (entry) => `lib/${entry}.js`,
);
/** Servers load them once and bundle nothing. */
const SERVER_ENTRIES = ["consumers/index", "http/index", "postgres/index", "valkey/index"];
const BUNDLED_ENTRIES = {
  "testing/index": "lib/testing/index.js",
  "cli/onceonly": "bin/onceonly.js",
  ...Object.fromEntries(SERVER_ENTRIES.map((entry) => [entry, `lib/${entry}.js`])),
};
/** Modules of these rooms are in the files of the entries, not beside them. */
const SERVER_ROOMS = SERVER_ENTRIES.map((entry) => `lib/${dirname(entry)}/`);

/** They let a bundler leave a call out. */
const MARKS = /@__(PURE|NO_SIDE_EFFECTS)__/;

/**
 * @param {string} commented the folder of the compiled modules with comments
 * @param {string} compiled the folder of the same modules without comments
 * @param {string} outdir
 * @returns what the CommonJS modules share with these
 */
export async function buildModules(commented, compiled, outdir) {
  const reachedModules = await reached(compiled, HANDLER_ENTRIES);
  const modules = new Set(
    [...reachedModules].filter((module) => !SERVER_ROOMS.some((room) => module.startsWith(room))),
  );
  await Promise.all(
    [...modules].map((module) => writeModule(join(commented, module), join(outdir, relative("lib", module)))),
  );
  const standIns = await findStandIns(compiled, Object.values(BUNDLED_ENTRIES), reachedModules);
  await build({
    ...BUNDLING,
    absWorkingDir: compiled,
    entryPoints: BUNDLED_ENTRIES,
    outdir,
    plugins: [
      leaveOut(compiled, modules),
      shareStandIns(compiled, standIns.names, `../../cjs/${STAND_INS}.js`),
    ],
  });
  const commandLine = join(outdir, "cli/onceonly.js");
  await writeFile(commandLine, withoutFunctionNames(await readFile(commandLine, "utf8")));
  await chmod(commandLine, 0o755);
  // The command line loads this file into the processes of functions, from its own folder.
  const native = new URL("../lib/local/lambda/native-client.cjs", import.meta.url);
  await copyFile(native, join(outdir, "cli/native-client.cjs"));
  return standIns;
}

/**
 * The command line prints no stack traces, so that its functions need no names: 4 KB of the tarball. Classes keep theirs.
 * @param {string} code
 */
function withoutFunctionNames(code) {
  const naming = /(?<=[;}\n])([\w$]+)\([\w$]+,"[\w$]+"\)(?:;|(?=\n))/g;
  const counts = new Map();
  for (const [, name] of code.matchAll(naming)) counts.set(name, (counts.get(name) ?? 0) + 1);
  const [[helper]] = [...counts].sort(([, some], [, others]) => others - some);
  return code.replace(naming, (call, name) => (name === helper ? "" : call));
}

/** With all names. Without white space there is no mark for a bundler, so a module with marks of our own keeps both. */
async function writeModule(source, target) {
  const text = await readFile(source, "utf8");
  const { code } = await transform(text, {
    target: "node20.19",
    charset: "utf8",
    minifyWhitespace: !MARKS.test(text),
    lineLimit: BUNDLING.lineLimit,
  });
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

// Finds the modules of the explorer that stand for AWS and time. Both formats load them from one file in CommonJS.
// They are most of the package, and a second copy would patch the same process a second time.
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { build } from "esbuild";
import { BUNDLING } from "./bundling.mjs";

export const STAND_INS = "shared/stand-ins";

const NAMESPACE = "stand-in";

/** Loads packages in the format of who asks, so each format has its own. */
const LOADS = /\bimport\(/;

const LIBRARY = /^onceonly(\/|$)/;

/**
 * @param {string} compiled the folder of the compiled ES modules
 * @param {readonly string[]} entries the first imports all the stand-ins
 * @returns {Promise<{ entry: string, names: ReadonlyMap<string, ReadonlyMap<string, string>> }>} the file's content, and
 * its names for the exports of each module
 */
export async function findStandIns(compiled, entries) {
  const inputs = await inputsOf(compiled, entries);
  const [first] = entries;
  const reached = new Set();
  reach(first);
  const isFree = freeModules(compiled, inputs);
  const asked = new Set();
  for (const [path, { imports }] of Object.entries(inputs)) {
    if (isFree(path) && reached.has(path)) continue;
    for (const { path: imported } of imports) {
      if (reached.has(imported) && isFree(imported)) asked.add(imported);
    }
  }
  const names = namesOf(await exportsOf(compiled, [...asked].sort()));
  const lines = [...names].map(
    ([path, own]) =>
      `export { ${[...own].map(([name, unique]) => `${name} as ${unique}`).join(", ")} } from "./${path}";`,
  );
  return { entry: lines.join("\n"), names };

  function reach(path) {
    if (reached.has(path)) return;
    reached.add(path);
    for (const { path: imported, external } of inputs[path].imports) if (!external) reach(imported);
  }
}

/**
 * Leads the imports of stand-ins to their file.
 * @param {string} compiled
 * @param {ReadonlyMap<string, ReadonlyMap<string, string>>} names
 * @param {string} file as the bundled files import it, which lie one folder deep
 * @returns {import("esbuild").Plugin}
 */
export function shareStandIns(compiled, names, file) {
  return {
    name: "share stand-ins",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\./, namespace: "file" }, ({ path, resolveDir }) => {
        const module = relative(compiled, join(resolveDir, path)).replaceAll("\\", "/");
        return names.has(module) ? { path: module, namespace: NAMESPACE, sideEffects: false } : undefined;
      });
      onResolve({ filter: /./, namespace: NAMESPACE }, () => ({
        path: file,
        external: true,
        sideEffects: false,
      }));
      onLoad({ filter: /./, namespace: NAMESPACE }, ({ path }) => {
        const own = [...names.get(path)].map(([name, unique]) => `${unique} as ${name}`).join(", ");
        return { contents: `export { ${own} } from "${file}";` };
      });
    },
  };
}

async function inputsOf(compiled, entryPoints) {
  const { metafile } = await build({
    ...BUNDLING,
    absWorkingDir: compiled,
    entryPoints,
    outdir: compiled,
    write: false,
    metafile: true,
  });
  return metafile.inputs;
}

/** Free of the library, of which each format has its own, and so is all that they import. */
function freeModules(compiled, inputs) {
  /** @type {Map<string, boolean>} */
  const known = new Map();
  return function isFree(path) {
    const answered = known.get(path);
    if (answered !== undefined) return answered;
    const isOwn =
      !LOADS.test(readFileSync(join(compiled, path), "utf8")) &&
      inputs[path].imports.every(({ path, external }) => (external ? !LIBRARY.test(path) : isFree(path)));
    known.set(path, isOwn);
    return isOwn;
  };
}

/** @returns by module, its exports at run time */
async function exportsOf(compiled, entryPoints) {
  const { metafile } = await build({
    ...BUNDLING,
    splitting: false,
    absWorkingDir: compiled,
    entryPoints,
    outdir: join(compiled, "exports"),
    write: false,
    metafile: true,
  });
  return Object.values(metafile.outputs).map(({ entryPoint, exports }) => [entryPoint, exports]);
}

/** Two modules may export the same name. */
function namesOf(exported) {
  const taken = new Map();
  return new Map(
    exported.map(([path, names]) => [
      path,
      new Map(
        names.map((name) => {
          const before = taken.get(name) ?? 0;
          taken.set(name, before + 1);
          return [name, before === 0 ? name : `${name}$${before}`];
        }),
      ),
    ]),
  );
}

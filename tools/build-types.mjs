// Builds the types: a declaration file per entry, and shared chunks. Both formats have the same types, so those of the
// ES modules pass on those of CommonJS.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";
import { entriesOf, PACKAGES } from "./entries.mjs";

/** The package holds no documents. */
const DOCUMENTS = `${JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).homepage.replace(/#.*/, "")}/blob/main/docs/`;

/** @type {import("rollup").Plugin} */
const linkDocuments = {
  name: "link documents",
  renderChunk: (code) => code.replace(/(?<!\/)\bdocs\/(?=[\w/-]+\.md\b)/g, DOCUMENTS),
};

/**
 * A server has one framework, or none. The types of the others don't exist there, and must not be an error.
 * @type {import("rollup").Plugin}
 */
const passOverFrameworks = {
  name: "pass over frameworks",
  renderChunk: (code) => code.replace(/^import .* from '(?:express|fastify|hono)';$/gm, "// @ts-ignore\n$&"),
};

const NAMED_FROM = /^(?:import|export) \{ ([^}]*) \} from '\.(\/[^']*)';$/gm;
const FROM_KIT = /^import \{ ([^}]*) \} from '([./]+)\/kit\.js';$/gm;

/**
 * Rollup imports some names by way of the kit, which passes them on. The kit's own declarations name types of the SDK, which a
 * project without DynamoDB lacks.
 * @type {import("rollup").Plugin}
 */
const passByTheKit = {
  name: "pass by the kit",
  generateBundle(_, files) {
    /** The source of each name that the kit exports from another file. */
    const origins = new Map();
    for (const [, names, from] of files["kit.d.ts"]?.code.matchAll(NAMED_FROM) ?? []) {
      for (const name of names.split(", ")) origins.set(name, from);
    }
    for (const file of Object.values(files)) {
      file.code = file.code.replace(FROM_KIT, (_, list, up) => {
        const lines = list
          .split(", ")
          .map((name) => `import { ${name} } from '${up}${origins.get(name) ?? "/kit.js"}';`);
        return lines.join("\n");
      });
    }
  },
};

/**
 * @param {string} name of the package
 * @param {string} declared the folder of the compiler's declarations
 * @param {string} dist
 */
export async function buildTypes(name, declared, dist) {
  const source = join(declared, PACKAGES[name].folder, "lib");
  const isEsmOnly = entriesOf(name, "cjs").length === 0;
  const bundle = await rollup({
    input: Object.fromEntries(entriesOf(name).map((entry) => [entry, join(source, `${entry}.d.ts`)])),
    external: (id) => /^[@\w]/.test(id),
    treeshake: { moduleSideEffects: false },
    plugins: [dts(), linkDocuments, passOverFrameworks, passByTheKit],
    // Options and bases that no entry exports are named in public types: they stay private.
    onwarn: ({ plugin, message }) => {
      if (plugin !== "dts") throw new Error(message);
    },
  });
  await bundle.write({
    dir: join(dist, isEsmOnly ? "esm" : "cjs"),
    entryFileNames: "[name].d.ts",
    chunkFileNames: ({ name }) => `shared/${name.replace(/\.d$/, "")}.d.ts`,
    minifyInternalExports: false,
    // Types of one folder that several entries share stay together, apart from those of the SDK.
    manualChunks: (id) => /\/lib\/(?:(core)\/|(contract)\.)/.exec(id)?.slice(1).find(Boolean),
  });
  await bundle.close();
  if (isEsmOnly) return;
  for (const entry of entriesOf(name, "esm")) {
    const file = join(dist, "esm", `${entry}.d.ts`);
    const up = "../".repeat(entry.split("/").length);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `export * from "${up}cjs/${entry}.js";\n`);
  }
}

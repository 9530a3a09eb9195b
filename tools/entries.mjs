// The packages of this repository and their entries: what `exports` of a manifest names, and the module that it means.
// `node tools/entries.mjs` writes them into the manifests and into tsconfig.json; vitest and the builds read them here.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { PEER_IMPORTS } from "./needed-peers.mjs";

/** @typedef {{ readonly folder: string, readonly entries: Readonly<Record<string, string>>, readonly only?: Readonly<Record<string, "esm" | "cjs">>, readonly isCommand?: boolean }} Package */

/** By name on npm. `only`: entries that are built in one format. `isCommand`: nothing to import, so no types. @type {Readonly<Record<string, Package>>} */
export const PACKAGES = {
  onceonly: {
    folder: "",
    entries: {
      ".": "index",
      "./agents": "agents/index",
      "./cdk": "cdk/index",
      "./cdk-rules": "cdk/rules/index",
      "./client": "client/index",
      "./consumers": "consumers/index",
      "./durable": "durable/index",
      "./dynamodb": "dynamodb/index",
      "./http": "http/index",
      "./kit": "kit",
      "./lean": "lean/index",
      "./messaging": "messaging/index",
      "./otel": "observe/otel/index",
      "./postgres": "postgres/index",
      "./reconciler": "reconciler/index",
      "./store-kit": "store-kit",
      "./stores": "stores/index",
      "./testing": "testing/index",
      "./valkey": "valkey/index",
    },
    // The CDK is CommonJS, and the rules are a part of its bundle.
    only: { "./cdk": "cjs", "./cdk-rules": "cjs" },
  },
  "onceonly-explorer": {
    folder: "packages/explorer/",
    entries: { ".": "explorer/index", "./aws": "aws/index" },
  },
  "onceonly-local": {
    folder: "packages/local/",
    entries: { ".": "index" },
    only: { ".": "esm" },
  },
  "onceonly-cli": {
    folder: "packages/cli/",
    entries: { ".": "onceonly" },
    only: { ".": "esm" },
    isCommand: true,
  },
};

/** The modules of a package's entries, from its `lib`, without ending; those of one format where it is given. */
export function entriesOf(name, format) {
  const { entries, only = {} } = PACKAGES[name];
  return Object.entries(entries)
    .filter(([entry]) => format === undefined || (only[entry] ?? format) === format)
    .map(([, module]) => module);
}

/** What each entry is called in an import, and the source that it means. */
export const SOURCES = Object.entries(PACKAGES).flatMap(([name, { folder, entries }]) =>
  Object.entries(entries).map(([entry, module]) => [`${name}${entry.slice(1)}`, `${folder}lib/${module}.ts`]),
);

function exportsOf({ entries, only = {}, isCommand = false }) {
  const target = (format, module) => ({
    ...(!isCommand && { types: `./dist/${format}/${module}.d.ts` }),
    default: `./dist/${format}/${module}.js`,
  });
  const exported = Object.entries(entries).map(([entry, module]) => [
    entry,
    only[entry]
      ? target(only[entry], module)
      : { import: target("esm", module), require: target("cjs", module) },
  ]);
  return { ...Object.fromEntries(exported), "./package.json": "./package.json" };
}

/** For TypeScript that reads no `exports`. */
function typesVersionsOf({ entries, only = {} }) {
  const named = Object.entries(entries).filter(([entry]) => entry !== ".");
  const typesOf = (entry, module) => [`./dist/${only[entry] ?? "cjs"}/${module}.d.ts`];
  return {
    "*": Object.fromEntries(named.map(([entry, module]) => [entry.slice(2), typesOf(entry, module)])),
  };
}

function write() {
  for (const made of Object.values(PACKAGES)) {
    edit(`${made.folder}package.json`, (manifest) => ({
      ...manifest,
      ...(manifest.typesVersions && { typesVersions: typesVersionsOf(made) }),
      exports: exportsOf(made),
      ...(made === PACKAGES.onceonly && { imports: PEER_IMPORTS }),
    }));
  }
  edit("tsconfig.json", (config) => ({
    ...config,
    compilerOptions: {
      ...config.compilerOptions,
      paths: Object.fromEntries(SOURCES.map(([name, source]) => [name, [`./${source}`]])),
    },
  }));
}

function edit(path, change) {
  const file = new URL(`../${path}`, import.meta.url);
  writeFileSync(file, `${JSON.stringify(change(JSON.parse(readFileSync(file, "utf8"))), null, 2)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) write();

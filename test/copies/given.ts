// Copies of the built package in this process: as an ES module, as CommonJS, and in a minified bundle.
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { builtPackages } from "../kit/built-packages.ts";
import { oncePerRun } from "../kit/once-per-run.ts";
import { root } from "../kit/project.ts";

export interface Copy {
  readonly agents: typeof import("onceonly/agents");
  readonly aws: typeof import("onceonly-explorer/aws");
  readonly explorer: typeof import("onceonly-explorer");
  readonly main: typeof import("onceonly");
  readonly cdk: typeof import("onceonly/cdk");
  readonly client: typeof import("onceonly/client");
  readonly consumers: typeof import("onceonly/consumers");
  readonly durable: typeof import("onceonly/durable");
  readonly dynamodb: typeof import("onceonly/dynamodb");
  readonly http: typeof import("onceonly/http");
  readonly kit: typeof import("onceonly/kit");
  readonly lean: typeof import("onceonly/lean");
  readonly messaging: typeof import("onceonly/messaging");
  readonly otel: typeof import("onceonly/otel");
  readonly postgres: typeof import("onceonly/postgres");
  readonly reconciler: typeof import("onceonly/reconciler");
  readonly "store-kit": typeof import("onceonly/store-kit");
  readonly stores: typeof import("onceonly/stores");
  readonly testing: typeof import("onceonly/testing");
  readonly valkey: typeof import("onceonly/valkey");
}
export type Entry = keyof Copy;

interface Path {
  /** The package and the entry in it, as an import names them. */
  readonly name: string;
  readonly entry: Entry;
  readonly isModule: boolean;
}

/** Each entry of the packages that run beside a handler. */
const PATHS: readonly Path[] = ["", "packages/explorer"].flatMap((folder) => {
  const { name, exports } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  return (
    Object.entries(exports as Record<string, object>)
      // The rules of the doctor run beside no handler.
      .filter(([entry]) => !entry.endsWith(".json") && entry !== "./cdk-rules")
      .map(([entry, given]) => ({
        name: `${name}${entry.slice(1)}`,
        entry: (entry !== "." ? entry.slice(2) : name === "onceonly" ? "main" : "explorer") as Entry,
        isModule: "import" in given,
      }))
  );
});
export const ENTRIES = PATHS.map(({ entry }) => entry);

export const KINDS = ["es module", "commonjs", "bundle"] as const;
export type Kind = (typeof KINDS)[number];

/** The folder of the built packages, with a bundle of all their entries in it. */
function built(): Promise<string> {
  return oncePerRun("copies", async () => {
    const folder = await builtPackages();
    await build({
      stdin: {
        contents: PATHS.map(({ entry, name }) => `export * as "${entry}" from "${name}";`).join("\n"),
        resolveDir: folder,
      },
      bundle: true,
      minify: true,
      plugins: [peersOutside],
      format: "cjs",
      platform: "node",
      target: "node20",
      logOverride: { "empty-import-meta": "silent" },
      define: { "import.meta.dirname": "__dirname", "import.meta.url": "__filename" },
      outfile: join(folder, "bundle.cjs"),
    });
    return folder;
  });
}

const peersOutside: Plugin = {
  name: "peers outside",
  setup({ onResolve }) {
    onResolve({ filter: /^[^./#]/ }, ({ path, kind }) =>
      kind === "entry-point" || /^onceonly/.test(path) ? undefined : { path, external: true },
    );
  },
};

export async function loadCopies(): Promise<Readonly<Record<Kind, Copy>>> {
  const folder = await built();
  const require = createRequire(join(folder, "package.json"));
  const all = async (load: (path: Path) => unknown) =>
    Object.fromEntries(
      await Promise.all(PATHS.map(async (path) => [path.entry, await load(path)])),
    ) as unknown as Copy;
  // An import from within the folder finds the packages there, and not those of the project.
  const loader = join(folder, "load.mjs");
  await writeFile(loader, "export const load = (name) => import(name);");
  const { load } = (await import(/* @vite-ignore */ pathToFileURL(loader).href)) as {
    load(name: string): Promise<unknown>;
  };
  const bundle = require(join(folder, "bundle.cjs")) as Copy;
  return {
    // The constructs are CommonJS only.
    "es module": await all(({ name, isModule }) => (isModule ? load(name) : require(name))),
    commonjs: await all(({ name }) => require(name)),
    bundle,
  };
}

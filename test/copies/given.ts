// Copies of the built package in this process: as an ES module, as CommonJS, and in a minified bundle.
import { cp, mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { oncePerRun } from "../../kit/once-per-run.ts";
import { manifest, root } from "../../kit/project.ts";
import { run } from "../../kit/run.ts";

export interface Copy {
  readonly main: typeof import("onceonly");
  readonly cdk: typeof import("onceonly/cdk");
  readonly client: typeof import("onceonly/client");
  readonly consumers: typeof import("onceonly/consumers");
  readonly http: typeof import("onceonly/http");
  readonly lean: typeof import("onceonly/lean");
  readonly otel: typeof import("onceonly/otel");
  readonly postgres: typeof import("onceonly/postgres");
  readonly testing: typeof import("onceonly/testing");
  readonly valkey: typeof import("onceonly/valkey");
}
export type Entry = keyof Copy;

const PATHS = Object.entries(manifest.exports as Record<string, unknown>)
  .filter(([name]) => !name.endsWith(".json"))
  .map(([name, given]) => {
    const by = given as { import?: { default: string }; require?: { default: string }; default: string };
    const [esm, cjs] = [by.import, by.require ?? by];
    const entry = (name === "." ? "main" : name.slice(2)) as Entry;
    return { entry, esm: (esm ?? cjs).default, cjs: cjs.default };
  });
export const ENTRIES = PATHS.map(({ entry }) => entry);

export const KINDS = ["es module", "commonjs", "bundle"] as const;
export type Kind = (typeof KINDS)[number];

/** The built package, within the project, so that its peers are found. A change of its sources builds it again. */
async function built(): Promise<string> {
  const { folder } = await oncePerRun("copies", async (made) => {
    const folder = join(root, "node_modules/.cache/copies", made.split("/").at(-2)!);
    await mkdir(folder, { recursive: true });
    await run(process.execPath, [join(root, "tools/build.mjs"), join(folder, "dist")], root);
    await cp(join(root, "package.json"), join(folder, "package.json"));
    await build({
      stdin: {
        contents: PATHS.map(({ entry, esm }) => `export * as ${entry} from "${esm}";`).join("\n"),
        resolveDir: folder,
      },
      bundle: true,
      minify: true,
      packages: "external",
      format: "cjs",
      platform: "node",
      target: "node20",
      logOverride: { "empty-import-meta": "silent" },
      define: { "import.meta.dirname": "__dirname", "import.meta.url": "__filename" },
      outfile: join(folder, "bundle.cjs"),
    });
    return { folder };
  });
  return folder;
}

export async function loadCopies(): Promise<Readonly<Record<Kind, Copy>>> {
  const folder = await built();
  const require = createRequire(join(folder, "package.json"));
  const all = async (load: (path: (typeof PATHS)[number]) => unknown) =>
    Object.fromEntries(
      await Promise.all(PATHS.map(async (path) => [path.entry, await load(path)])),
    ) as unknown as Copy;
  const bundle = require(join(folder, "bundle.cjs")) as Copy;
  return {
    "es module": await all(({ esm }) => import(/* @vite-ignore */ pathToFileURL(join(folder, esm)).href)),
    commonjs: await all(({ cjs }) => require(join(folder, cjs))),
    bundle,
  };
}

// Packs the project as a release would, from a build of its own, so that no test depends on what dist/ holds.
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../kit/project.ts";
import { run } from "../kit/run.ts";

const PUBLISHED = ["package.json", "README.md", "LICENSE"];

/** The packages that are published, and where they stand. */
export const PACKAGES: Readonly<Record<string, string>> = {
  onceonly: "",
  "onceonly-explorer": "packages/explorer",
  "onceonly-local": "packages/local",
  "onceonly-cli": "packages/cli",
};

export interface Tarball {
  readonly path: string;
  /** The paths of the files in it, sorted. */
  readonly files: readonly string[];
  readonly bytes: number;
}

/** As npm prints it. */
interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
  readonly size: number;
}

/** By the names of the packages. @param folder an existing folder that may be written to */
export async function packTarballs(folder: string): Promise<Readonly<Record<string, Tarball>>> {
  const staged = join(folder, "staged");
  await run(process.execPath, [join(root, "tools/build.mjs"), staged], folder);
  const packed: Record<string, Tarball> = {};
  for (const [name, path] of Object.entries(PACKAGES)) {
    for (const file of PUBLISHED) await cp(join(root, path, file), join(staged, path, file));
    if (path === "") await cp(join(root, "docs"), join(staged, "docs"), { recursive: true });
    packed[name] = await pack(join(staged, path), folder);
  }
  return packed;
}

/** Packs a folder with a manifest, such as an installed package. */
export async function pack(source: string, folder: string): Promise<Tarball> {
  const { stdout } = await run("npm", ["pack", source, "--json", "--pack-destination", folder], folder);
  const [{ filename, files, size }] = JSON.parse(stdout) as [Packed];
  return { path: join(folder, filename), files: files.map(({ path }) => path).sort(), bytes: size };
}

// Packs the project as a release would, from a build of its own, so that no test depends on what dist/ holds.
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../kit/project.ts";
import { run } from "../kit/run.ts";

const PUBLISHED = ["package.json", "README.md", "LICENSE"];

export interface Tarball {
  readonly path: string;
  /** The paths of the files in it, sorted. */
  readonly files: readonly string[];
  readonly bytes: number;
}

/** As npm tells it. */
interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
  readonly size: number;
}

/** @param folder an existing folder that may be written to */
export async function packTarball(folder: string): Promise<Tarball> {
  const staged = join(folder, "staged");
  await mkdir(staged);
  for (const name of PUBLISHED) await cp(join(root, name), join(staged, name), { recursive: true });
  await run(process.execPath, [join(root, "tools/build.mjs"), join(staged, "dist")], folder);
  return pack(staged, folder);
}

/** Packs a folder with a manifest, such as an installed package. */
export async function pack(source: string, folder: string): Promise<Tarball> {
  const { stdout } = await run("npm", ["pack", source, "--json", "--pack-destination", folder], folder);
  const [{ filename, files, size }] = JSON.parse(stdout) as [Packed];
  return { path: join(folder, filename), files: files.map(({ path }) => path).sort(), bytes: size };
}

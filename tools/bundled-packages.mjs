// Which packages a bundle of esbuild carries, by its metafile.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Sorted by name, then version. A package of which nothing is left in the bundle is not in it.
 * @param {import("esbuild").Metafile} metafile
 */
export function bundledPackages({ outputs }) {
  const folders = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) =>
      bytesInOutput > 0 ? (/^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []) : [],
    ),
  );
  return [...new Set(folders)]
    .map((folder) => {
      const manifest = join(root, folder, "package.json");
      if (!existsSync(manifest)) throw new Error(`${folder} is bundled, and has no package.json`);
      const { name, version, license } = JSON.parse(readFileSync(manifest, "utf8"));
      return { name, version, license, folder: join(root, folder) };
    })
    .sort((left, right) =>
      `${left.name}@${left.version}`.localeCompare(`${right.name}@${right.version}`, "en"),
    );
}

// The built packages, which several test files run and one of them builds.
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { oncePerRun } from "./once-per-run.ts";
import { root } from "./project.ts";
import { run } from "./run.ts";

/** Where each package that runs beside a handler stands in the repository. */
const BUILT = { onceonly: "", "onceonly-explorer": "packages/explorer" };

/**
 * Resolves to a folder with both in its node_modules, within the project so that their peers are found. A change of their
 * sources builds them again.
 */
export function builtPackages(): Promise<string> {
  return oncePerRun("built-packages", async (made) => {
    const folder = join(root, "node_modules/.cache/built-packages", made.split("/").at(-2)!);
    await run(process.execPath, [join(root, "tools/build.mjs"), made], root);
    for (const [name, path] of Object.entries(BUILT)) {
      const installed = join(folder, "node_modules", name);
      await mkdir(installed, { recursive: true });
      await cp(join(made, path, "dist"), join(installed, "dist"), { recursive: true });
      await cp(join(root, path, "package.json"), join(installed, "package.json"));
    }
    // Without a package of its own the folder would be a part of the project, and `onceonly` would name the project itself.
    await writeFile(join(folder, "package.json"), '{"name":"built-packages","private":true}');
    return folder;
  });
}

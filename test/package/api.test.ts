// The names of each entry, values and types. A change of them is reviewed in the diff of test/package/api. To write them again:
// npx vitest run test/package/api -u
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SOURCES } from "../../tools/entries.mjs";
import { root } from "../kit/project.ts";
import { exportedNames } from "./names-given.ts";
import { PACKAGES } from "./tarball-given.ts";

/** The command line exports nothing. */
const ENTRIES = SOURCES.filter(([name]) => name !== "onceonly-cli");

describe.each(ENTRIES)("%s", (entry, source) => {
  it("exports the names of its report", async () => {
    const file = join(root, source);
    const values = new Set(Object.keys(await import(file)));
    const names = exportedNames(file);

    expect(names).toEqual(expect.arrayContaining([...values]));
    const lines = names.map((name) => `${values.has(name) ? "value" : "type "} ${name}\n`);
    await expect(lines.join("")).toMatchFileSnapshot(`api/${entry.replace("/", "-")}.txt`);
  });
});

describe("the manifests", () => {
  it("have the entries of tools/entries.mjs, and so has tsconfig.json", async () => {
    const { default: config } = await import(join(root, "tsconfig.json"), { with: { type: "json" } });
    const exported = await Promise.all(
      Object.values(PACKAGES).map(async (folder) => {
        const { default: manifest } = await import(join(root, folder, "package.json"), {
          with: { type: "json" },
        });
        const { name, exports } = manifest as { readonly name: string; readonly exports: object };
        return Object.keys(exports).flatMap((entry) =>
          entry.endsWith(".json") ? [] : `${name}${entry.slice(1)}`,
        );
      }),
    );

    expect(exported.flat()).toEqual(SOURCES.map(([name]) => name));
    expect(config.compilerOptions.paths).toEqual(
      Object.fromEntries(SOURCES.map(([name, source]) => [name, [`./${source}`]])),
    );
  });

  it("have one version, and name each other by it", async () => {
    const manifests = await Promise.all(
      [...Object.values(PACKAGES), "packages/proof"].map(
        async (folder) =>
          (await import(join(root, folder, "package.json"), { with: { type: "json" } })).default,
      ),
    );
    const [{ version }] = manifests;

    for (const { name, dependencies, peerDependencies, ...manifest } of manifests) {
      expect(manifest.version, name).toBe(version);
      for (const [other, range] of Object.entries({ ...dependencies, ...peerDependencies })) {
        if (other.startsWith("onceonly")) expect(range, `${name}: ${other}`).toBe(version);
      }
    }
  });
});

// The lockfile serves every platform and every registry, whichever made it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { manifest, root } from "./project.ts";

interface Locked {
  readonly resolved?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const { packages }: { packages: Record<string, Locked> } = JSON.parse(
  readFileSync(join(root, "package-lock.json"), "utf8"),
);

describe("package-lock.json", () => {
  it("names every optional package, also those for other platforms (tools/complete-lockfile.mjs)", () => {
    const locked = new Set(Object.keys(packages).map((path) => path.replace(/^.*node_modules\//, "")));
    const optional = Object.values(packages).flatMap((entry) =>
      Object.keys(entry.optionalDependencies ?? {}),
    );

    expect(optional.length).toBeGreaterThan(0);
    expect(optional.filter((name) => !locked.has(name))).toEqual([]);
  });

  it("names no registry", () => {
    const resolved = Object.values(packages).flatMap((entry) => entry.resolved ?? []);

    expect(resolved.filter((from) => from.includes("://"))).toEqual([]);
  });

  it("is in step with package.json, which pins exact versions", () => {
    const { dependencies, devDependencies } = packages[""]!;
    const pinned = { ...manifest.dependencies, ...manifest.devDependencies };

    expect({ ...dependencies, ...devDependencies }).toEqual(pinned);
    expect(
      Object.values(pinned).filter((version) => !/^(npm:@?[\w/-]+@)?\d+\.\d+\.\d+$|^file:/.test(version)),
    ).toEqual([]);
  });
});

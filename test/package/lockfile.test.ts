// The lockfile serves every platform and every registry, whichever made it.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
// @ts-expect-error it has no types
import semver from "semver";
import { describe, expect, it } from "vitest";
import { manifest, root } from "../kit/project.ts";
import { TESTED_NODES } from "../kit/support.ts";

interface Locked {
  readonly integrity?: string;
  readonly link?: boolean;
  readonly inBundle?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly engines?: { readonly node?: string };
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly name?: string;
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

  it("has the hash of each package that Linux on x64 installs, which makes the releases", () => {
    const unhashed = Object.entries(packages).filter(
      ([path, { integrity, link, inBundle }]) =>
        path.includes("node_modules/") && !integrity && !link && !inBundle,
    );
    const isForOthers = ({ os, cpu, libc, dev, optional }: Locked) =>
      dev &&
      optional &&
      !(os?.includes("linux") && cpu?.includes("x64") && libc?.includes("glibc") !== false);

    expect(unhashed.filter(([, entry]) => !isForOthers(entry)).map(([path]) => path)).toEqual([]);
    console.log(`${unhashed.length} packages for other platforms are locked without a hash`);
  });

  it("R6: leaves only bundled packages without a hash otherwise, and the package that contains them has one", () => {
    const bundled = Object.entries(packages).filter(([, { inBundle }]) => inBundle);
    const holders = new Set(bundled.map(([path]) => path.slice(0, path.lastIndexOf("/node_modules/"))));

    // A bundled package comes in the tarball of its holder, so that the registry has no hash of it.
    expect([...holders].sort()).toEqual([
      "node_modules/@aws-cdk/cloud-assembly-schema",
      "node_modules/aws-cdk-lib",
    ]);
    for (const holder of holders) expect(packages[holder]?.integrity).toMatch(/^sha512-/);
  });

  it("R6: lacks the hashes of no packages but the platform builds of these tools", () => {
    const unhashed = Object.entries(packages).filter(
      ([path, { integrity, link, inBundle }]) =>
        path.includes("node_modules/") && !integrity && !link && !inBundle,
    );

    const tools = /^node_modules\/@(biomejs\/cli|oxc-parser\/binding|rollup\/rollup|unrs\/resolver-binding)-/;
    expect(unhashed.filter(([path]) => !tools.test(path)).map(([path]) => path)).toEqual([]);
    expect(unhashed.length).toBeLessThanOrEqual(64);
  });

  it.each(TESTED_NODES)("5: lets npm ci run without a warning about Node %s", (node) => {
    // npm leaves out an optional package that doesn't support the Node at hand, and says nothing.
    const refused = Object.entries(packages).filter(
      ([, { engines, optional }]) => !optional && engines?.node && !semver.satisfies(node, engines.node),
    );

    expect(refused.map(([path, { engines }]) => `${path} needs ${engines?.node}`)).toEqual([]);
  });

  it("has no unrelated package in place of one that is left out", () => {
    const replaced = ["node-gyp", "node-addon-api"].map((name) => packages[`node_modules/${name}`]);

    expect(replaced).toEqual(replaced.map(() => ({ resolved: "tools/empty-package", link: true })));
    expect(Object.values(packages).filter(({ name }) => name?.startsWith("empty-npm"))).toEqual([]);
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

describe("tools/complete-lockfile.mjs", () => {
  it("adds what a registry left out, and with --integrity the hashes that the registry has", async () => {
    const folder = await mkdtemp(join(tmpdir(), "lockfile-"));
    const known = {
      name: "@a/b-linux-x64",
      version: "1.0.0",
      dist: { integrity: "sha512-abc+/123==", tarball: "t" },
    };
    const registry = createServer((request, response) => {
      const isKnown = decodeURIComponent(request.url ?? "") === `/${known.name}`;
      const packument = { name: known.name, "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": known } };
      response.writeHead(isKnown ? 200 : 404).end(JSON.stringify(isKnown ? packument : {}));
    });
    await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
    const { port } = registry.address() as AddressInfo;
    const optionalDependencies = { "@a/b-linux-x64": "1.0.0", "@a/b-darwin-arm64": "1.0.0" };
    await mkdir(join(folder, "tools"));
    await copyFile(join(root, "tools/complete-lockfile.mjs"), join(folder, "tools/complete-lockfile.mjs"));
    await writeFile(
      join(folder, "package-lock.json"),
      JSON.stringify({
        packages: {
          "": {},
          "node_modules/@a/b": { version: "1.0.0", integrity: "sha512-x", dev: true, optionalDependencies },
        },
      }),
    );

    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["tools/complete-lockfile.mjs", "--integrity"],
      {
        cwd: folder,
        env: {
          ...process.env,
          npm_config_registry: `http://127.0.0.1:${port}`,
          npm_config_cache: join(folder, "cache"),
          npm_config_fetch_retries: "0",
        },
      },
    );
    registry.close();
    registry.closeAllConnections();

    expect(stdout).toContain("2 packages added, 1 of 4 without integrity");
    const { packages: completed } = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
    expect(completed["node_modules/@a/b-linux-x64"]).toMatchObject({
      version: "1.0.0",
      integrity: known.dist.integrity,
      optional: true,
    });
    expect(completed["node_modules/@a/b-darwin-arm64"]).not.toHaveProperty("integrity");
    await rm(folder, { recursive: true });
  });
});

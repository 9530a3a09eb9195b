// A link leads to the project: every address begins with the one in lib/contract.ts.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DEFAULT_RUNBOOK_URL } from "../../lib/cdk/monitoring/alarms.ts";
import { PROJECT_URL } from "../../lib/contract.ts";
import { documents, manifest, root } from "../kit/project.ts";

const sources = ["lib", "packages/proof", "bin", "functions", "tools"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => /\.(ts|mjs)$/.test(path) && !path.includes("node_modules"))
    .map((path) => `${folder}/${path.replaceAll("\\", "/")}`)
    .sort(),
);

/** Every address of a repository of this name, up to what ends it. */
const addressesIn = (file: string) =>
  [
    ...readFileSync(join(root, file), "utf8").matchAll(/https:\/\/github\.com\/[\w-]+\/onceonly[^\s)"'`]*/g),
  ].map(([address]) => address);

describe("the address of the project", () => {
  it("is the one of package.json", () => {
    expect(manifest).toMatchObject({
      homepage: `${PROJECT_URL}#readme`,
      bugs: `${PROJECT_URL}/issues`,
      repository: { type: "git", url: `git+${PROJECT_URL}.git` },
    });
  });

  it("stands in one file of the code, and in the TSDoc of a default", () => {
    const files = sources.filter((file) => addressesIn(file).length > 0);

    expect(files).toEqual(["lib/cdk/monitoring/props.ts", "lib/contract.ts"]);
    expect(addressesIn("lib/cdk/monitoring/props.ts")).toEqual([DEFAULT_RUNBOOK_URL]);
  });

  it("begins every link of the documents, and each linked file exists", () => {
    const links = documents.flatMap((file) => addressesIn(file));
    const missing = links.filter((link) => {
      const [, path] = /^\/(?:blob|tree)\/main\/([^#]+)/.exec(link.slice(PROJECT_URL.length)) ?? [];
      return !link.startsWith(PROJECT_URL) || (path !== undefined && !existsSync(join(root, path)));
    });

    expect(links.length).toBeGreaterThan(5);
    expect(missing).toEqual([]);
  });
});

describe("the README", () => {
  it("explains how to install the package from a checkout, under npm pack's file name", () => {
    const readme = readFileSync(join(root, "README.md"), "utf8");
    const named = [...readme.matchAll(/onceonly-[\d.]+\.tgz/g)].map(([name]) => name);

    expect(new Set(named)).toEqual(new Set([`onceonly-${manifest.version}.tgz`]));
    expect(readme).toContain("npm ci && npm run build && npm pack");
  });
});

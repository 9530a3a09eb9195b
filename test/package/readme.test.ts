// The code of the documents compiles, and imports what users can import.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { SOURCES } from "../../tools/entries.mjs";
import { compiledFences, moduleOf } from "../kit/fences.ts";
import { manifest, root } from "../kit/project.ts";

const fences = compiledFences();

const folder = realpathSync(mkdtempSync(join(tmpdir(), "fences-")));
const errors = typecheck(folder);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the documents", () => {
  it("hold code", () => {
    expect(fences.map(({ file }) => file)).toContain("README.md");
  });

  it("compile as a whole", () => {
    const sources = fences.map(moduleOf);

    expect(errors.filter((error) => !sources.some((source) => error.startsWith(source)))).toEqual([]);
  });
});

describe.each(fences.map((fence) => [`${fence.file}:${fence.line}`, fence] as const))("%s", (_, fence) => {
  it("compiles", () => {
    expect(errors.filter((error) => error.startsWith(moduleOf(fence)))).toEqual([]);
  });

  it("imports packages by their public names", () => {
    const imported = [...fence.code.matchAll(/\b(?:from|import)\b\s*\(?\s*"([^"]+)"/g)].map(
      ([, name]) => name!,
    );

    expect(imported.filter((name) => !isPublic(name))).toEqual([]);
  });
});

/** What the compiler says about the fences, a file each, one entry per error. */
function typecheck(folder: string): string[] {
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  for (const fence of fences) writeFileSync(join(folder, moduleOf(fence)), fence.code);
  const { compilerOptions } = JSON.parse(readFileSync(join(root, "tsconfig.json"), "utf8"));
  const settings = {
    extends: join(root, "tsconfig.json"),
    // The caller's side runs in browsers too, and an example need not use all it declares.
    compilerOptions: { lib: [...compilerOptions.lib, "dom"], noUnusedLocals: false },
    include: ["*.mts"],
    exclude: [],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { stdout } = spawnSync(process.execPath, [tsc, "--pretty", "false"], {
    cwd: folder,
    encoding: "utf8",
  });
  return stdout.split(/\n(?! )/).filter((line) => line !== "");
}

function isPublic(name: string): boolean {
  if (/^onceonly/.test(name)) return SOURCES.some(([entry]) => entry === name);
  const packageName = /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name;
  return (
    name.startsWith("node:") ||
    packageName in manifest.peerDependencies ||
    packageName in manifest.devDependencies ||
    `@types/${packageName}` in manifest.devDependencies
  );
}

// Why the one dependency stays at an older major version.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, it } from "vitest";
import { manifest, root } from "../kit/project.ts";

it("S4: canonicalize stays at a version that CommonJS and Node 20 can load, and the page says why", () => {
  const require = createRequire(import.meta.url);
  const page = readFileSync(join(root, "docs/operate/security.md"), "utf8").replaceAll(/\s+/g, " ");
  const [, version] = /`canonicalize` (\d+\.\d+)/.exec(page) ?? [];
  const installed = JSON.parse(readFileSync(join(root, "node_modules/canonicalize/package.json"), "utf8"));

  expect(manifest.dependencies.canonicalize).toMatch(new RegExp(`^${version}\\.\\d+$`));
  expect(installed).toMatchObject({ version: manifest.dependencies.canonicalize });
  expect([installed.type, installed.engines?.node]).not.toContain("module");
  expect(require("canonicalize")({ b: 1, a: 2 })).toBe('{"a":2,"b":1}');
  expect(page).toMatch(/ES modules only and need Node 22/);
});

// The package installs no other package, and the security page says so.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { manifest, root } from "../kit/project.ts";

it("R6: S4: the package has no runtime dependency, and the page says so", () => {
  const page = readFileSync(join(root, "docs/operate/security.md"), "utf8");

  expect(manifest).not.toHaveProperty("dependencies");
  expect(page).toContain("onceonly installs no other package");
});

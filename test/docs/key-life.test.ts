// docs/key-life.svg is what its script draws: node tools/key-life.mjs
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../../kit/project.ts";

const script = new URL("../../tools/key-life.mjs", import.meta.url).href;
const { keyLife } = (await import(script)) as { keyLife(): string };

it("docs/key-life.svg is what tools/key-life.mjs draws", () => {
  expect(readFileSync(join(root, "docs/key-life.svg"), "utf8")).toBe(keyLife());
});

// docs/proof/why-not.md names each test of test/why-not, and no other.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../kit/project.ts";
import { testFiles } from "./given.ts";

it("docs/proof/why-not.md names the tests of each pattern", () => {
  const page = readFileSync(join(root, "docs/proof/why-not.md"), "utf8");
  const named = [...page.matchAll(/^- `(why-not\/[\w-]+\.test\.ts)` "(.+)"$/gm)];
  const there = testFiles().filter(({ path }) => /^test\/why-not\/.+\.test\.ts$/.test(path));

  const titles = there.flatMap(({ path, source }) =>
    [...source.matchAll(/^ +it\("(.+)", /gm)].map(([, title]) => `${path} ${title}`),
  );

  expect(titles.length).toBeGreaterThan(0);
  expect(named.map(([, path, title]) => `test/${path} ${title}`).sort()).toEqual(titles.sort());
});

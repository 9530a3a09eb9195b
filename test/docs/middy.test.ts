// docs/reference/middy-hooks.md says what test/lambda/middy/hooks.test.ts proves. To write its table again: npx vitest run test/docs -u
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../kit/project.ts";
import { withHookTable } from "./middy-given.ts";

const page = join(root, "docs/reference/middy-hooks.md");

it("docs/reference/middy-hooks.md has a row for each position of a hook that is tested", async () => {
  await expect(withHookTable(readFileSync(page, "utf8"))).toMatchFileSnapshot(page);
});

it("a page without its marks is refused", () => {
  expect(() => withHookTable("# Page")).toThrow("docs/reference/middy-hooks.md has no");
});

// docs/reference/context.md has a row for each member of what a handler gets, in the order of the type.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../kit/project.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");

it("docs/reference/context.md names every member of `context.idempotency`, and no other", () => {
  const [, type = ""] =
    /^export interface Execution<.*?\{\n(.*?)^\}/ms.exec(read("lib/core/execution.ts")) ?? [];
  const declared = [...type.matchAll(/^ {2}(?:readonly )?(\w+)(?:<[^(]*>)?\??[(:]/gm)].map(
    ([, name]) => name,
  );
  // A method may be declared for several kinds of parameters.
  const members = [...new Set(declared)];
  const [, table = ""] = /^\| member \|.*?\n(.*?)\n\n/ms.exec(read("docs/reference/context.md")) ?? [];
  const rows = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);

  expect(members).toContain("commit");
  expect(rows).toEqual(members);
});

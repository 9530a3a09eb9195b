// docs/reference/options.md has every option of the adapters: a new option without a row is seen here.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ENGINE_CHECKS } from "../../lib/core/options.ts";
import { BATCH_CHECKS } from "../../lib/lambda/batch/batch-options.ts";
import { HTTP_CHECKS } from "../../lib/lambda/options.ts";
import { PLAIN_CHECKS } from "../../lib/lambda/plain.ts";
import { root } from "../kit/project.ts";

/** For tests of handlers: docs/guides/testing.md speaks of them. */
const INJECTED = ["clock", "random"];

/** Names in code at the start of the rows of the first table. */
function firstColumn(page: string): string[] {
  const [table = ""] = /^\|.*(?:\n\|.*)*/m.exec(page) ?? [];
  const cells = table.split("\n").map((line) => line.split("|")[1] ?? "");
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name));
}

it("docs/reference/options.md has one row for each option, and for nothing else", () => {
  const options = Object.keys({ ...ENGINE_CHECKS, ...PLAIN_CHECKS, ...HTTP_CHECKS, ...BATCH_CHECKS });
  const page = readFileSync(join(root, "docs/reference/options.md"), "utf8");
  expect(firstColumn(page).sort()).toEqual(options.filter((name) => !INJECTED.includes(name)).sort());
});

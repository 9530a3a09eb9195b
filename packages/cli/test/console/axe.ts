// What axe finds on a page of the console.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
  readonly passes: readonly { readonly id: string }[];
}

/** What axe finds, each with the elements. It has looked at what counts here. */
export async function findingsOf(page: Page) {
  await page.evaluate(await readFile(AXE, "utf8"));
  const { violations, passes } = await page.evaluate<AxeResults>("axe.run(document)");
  expect(passes.map(({ id }) => id)).toEqual(
    expect.arrayContaining(["color-contrast", "label", "button-name"]),
  );
  return violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
}

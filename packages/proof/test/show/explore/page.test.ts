import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { exploredPage } from "../../../show/explore/page.ts";

const PAGE = new URL("../../../../../docs/proof/explored.md", import.meta.url);

describe("docs/proof/explored.md", () => {
  it("is the explorer's report about the sample, which is that it holds", async () => {
    const page = await exploredPage();

    expect(page).toBe(readFileSync(PAGE, "utf8"));
    // Each function of the sample, and the saga among them.
    expect(page.match(/, exactly once$/gm)).toHaveLength(page.match(/^## /gm)?.length ?? 0);
    expect(page).toContain("\n## place-order-saga\n");
  }, 240_000);
});

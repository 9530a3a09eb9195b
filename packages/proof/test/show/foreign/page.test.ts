import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { foreignPage, PAGE } from "../../../show/foreign/page.ts";

describe("docs/proof/foreign-handlers.md", () => {
  it("43.5: is what the explorer says about each foreign handler, and each report is right", async () => {
    const { page, wrong } = await foreignPage();

    expect(wrong).toEqual([]);
    expect(page).toBe(readFileSync(PAGE, "utf8"));
  }, 600_000);
});

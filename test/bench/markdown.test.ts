import { describe, expect, it } from "vitest";
import { replaceSection } from "../../bench/report/markdown.ts";

const DOCUMENT = "# Title\n\nText.\n\n## One\n\nold one\n\n### Part\n\nold\n\n## Two\n\nold two\n";

describe("replaceSection", () => {
  it("replaces a section with its parts and leaves the others alone", () => {
    expect(replaceSection(DOCUMENT, "## One\n\nnew\n")).toBe(
      "# Title\n\nText.\n\n## One\n\nnew\n\n## Two\n\nold two\n",
    );
  });

  it("replaces the last section", () => {
    expect(replaceSection(DOCUMENT, "## Two\n\nnew\n")).toBe(DOCUMENT.replace("old two", "new"));
  });

  it("changes nothing when the section is the same", () => {
    expect(replaceSection(DOCUMENT, "## Two\n\nold two\n")).toBe(DOCUMENT);
  });

  it("refuses a section that the document does not have", () => {
    expect(() => replaceSection(DOCUMENT, "## Three\n\nnew\n")).toThrow('no section "## Three"');
  });
});

// The site shows every page: its navigation is read from the folders, in the order of docs/README.md.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createMarkdownRenderer } from "vitepress";
import { describe, expect, it } from "vitest";
import { siteLink, siteMarkdown, slugOf } from "../../docs/.vitepress/links.ts";
import { addressOf, sectionsOf } from "../../docs/.vitepress/navigation.ts";
import { documents, root } from "../kit/project.ts";

const docs = join(root, "docs");
const sections = sectionsOf(docs);
const shown = sections
  .flatMap(({ pages }) => pages.map(({ path }) => path))
  .filter((path) => !path.startsWith("api/"));

it("38.5: shows each page once, and no page that doesn't exist", () => {
  const written = documents
    .filter((file) => file.startsWith("docs/") && file !== "docs/README.md")
    .map((file) => file.slice("docs/".length));

  expect(shown.toSorted()).toEqual(written.toSorted());
});

it("38.5: names each page by its heading, and no two pages of a section alike", () => {
  for (const { pages } of sections) {
    const titles = pages.map(({ title }) => title);
    expect(titles).toEqual([...new Set(titles)]);
  }
  const [start] = sections;
  expect(start?.pages.find(({ path }) => path === "start/tutorial.md")?.title).toBe(
    /^# (.+)$/m.exec(readFileSync(join(docs, "start/tutorial.md"), "utf8"))?.[1],
  );
});

it("38.5: orders a section as docs/README.md does, after the section's own first page", () => {
  const listed = [...readFileSync(join(docs, "README.md"), "utf8").matchAll(/\]\(([^)#]+\.md)\)/g)].map(
    ([, path = ""]) => path,
  );
  for (const { pages } of sections) {
    const paths = pages
      .map(({ path }) => path)
      .filter((path) => listed.includes(path) && !/index/.test(path));
    expect(paths).toEqual(paths.toSorted((left, right) => listed.indexOf(left) - listed.indexOf(right)));
  }
});

it.each([
  ["guides/http.md", "/guides/http"],
  ["proof/index.md", "/proof/"],
  ["README.md", "/"],
])("38.5: gives %s the address %s", (path, address) => {
  expect(addressOf(path)).toBe(address);
});

it.each([
  ["../reference/errors.md#claim_lost", "guides/http.md", "/reference/errors.md#claim_lost"],
  ["keys.md", "guides/http.md", "/guides/keys.md"],
  ["../README.md", "guides/http.md", "/"],
  ["../../README.md", "guides/http.md", "https://github.com/onceonly/onceonly/blob/main/README.md"],
  ["../../packages/cli", "start/a.md", "https://github.com/onceonly/onceonly/tree/main/packages/cli"],
  [
    "without-cdk/sam.yaml",
    "guides/a.md",
    "https://github.com/onceonly/onceonly/blob/main/docs/guides/without-cdk/sam.yaml",
  ],
  ["#here", "guides/a.md", "#here"],
  ["https://example.com/a.md", "guides/a.md", "https://example.com/a.md"],
])("38.5: leads %s on %s to %s", (href, page, link) => {
  expect(siteLink(href, page)).toBe(link);
});

it.each([
  ["SELECT … FOR UPDATE on a row", "select--for-update-on-a-row"],
  ["H8, H9: what's `lost`?", "h8-h9-whats-lost"],
  ["Node.js and Lambda", "nodejs-and-lambda"],
])("38.5: names the anchor of %s as GitHub does", (heading, slug) => {
  expect(slugOf(heading)).toBe(slug);
});

describe("38.5: the Markdown of a page", () => {
  const html = async (markdown: string, relativePath = "guides/a.md") => {
    const md = await createMarkdownRenderer(docs, { attrs: { disable: true }, config: siteMarkdown });
    return md.render(markdown, { relativePath });
  };

  it("is text: braces and unknown tags are shown as they are written", async () => {
    const shown = await html("reads `{{resolve:ssm}}` and {{ 1 + 1 }}, must be <name> or <Store>{ … }");

    expect(shown).not.toMatch(/\{\{/);
    expect(shown).toContain("&lt;name&gt; or &lt;Store&gt;{ … }");
  });

  it("has anchors, and tables that scroll by themselves and have no empty header", async () => {
    const shown = await html('<a id="here"></a> a\n\n| | b |\n|---|---|\n| c | d |\n');

    expect(shown).toContain('<a id="here"></a>');
    expect(shown).toMatch(
      /<div class="wide" tabindex="0"><table>\s*<thead>\s*<tr>\s*<td><\/td>\s*<th>b<\/th>/,
    );
  });

  it("shows a component in the place of a comment, which GitHub hides", async () => {
    expect(await html("<!-- component: CrashPicker -->")).toContain(
      "<ClientOnly><CrashPicker /></ClientOnly>",
    );
    expect(await html("<!-- a remark -->")).not.toContain("ClientOnly");
  });

  it("38.4: shows the crash on the page of core ideas once, also without a place for it", async () => {
    const page = "start/core-ideas.md";
    for (const markdown of [
      "# Ideas",
      "# Ideas\n\n<!-- component: CrashPicker -->\n\nMore",
      "## A\n\n## Next",
    ]) {
      expect((await html(markdown, page)).match(/<CrashPicker \/>/g)).toHaveLength(1);
    }
    expect(await html("## A\n\n## Next", page)).toMatch(/>A [\s\S]*CrashPicker[\s\S]*>Next /);
  });
});

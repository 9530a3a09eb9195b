// Every link of the built site leads somewhere. Needs no browser.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, expect, it } from "vitest";
import { documents, root } from "../kit/project.ts";
import { anchorsOf, type BuiltPage, builtPages, fileAt, ownTargets, SITE } from "./given.ts";
import { buildSite } from "./world.ts";

let pages: readonly BuiltPage[];

beforeAll(async () => {
  await buildSite();
  pages = builtPages();
}, 600_000);

const textOf = (file: string) => readFileSync(join(SITE, file), "utf8");

it("38.5: has a page for every document, and for every public entry", () => {
  const addresses = pages.map(({ address }) => address);
  const wanted = documents
    .filter((file) => file.startsWith("docs/"))
    .map((file) => file.replace(/^docs\//, "/onceonly/").replace(/(?:(?<=\/)(?:README|index))?\.md$/, ""));

  expect(addresses).toEqual(expect.arrayContaining(wanted));
  expect(addresses.filter((address) => address.startsWith("/onceonly/api/")).length).toBeGreaterThan(20);
  console.log(`${pages.length} pages`);
});

it("38.5: every link and every picture leads to a file of the site, and every anchor to a place in it", () => {
  const anchors = new Map<string, ReadonlySet<string>>();
  const broken = new Set<string>();
  for (const page of pages) {
    for (const target of ownTargets(page)) {
      const [path = "", anchor = ""] = target.split("#");
      const file = fileAt(path);
      if (file === undefined) broken.add(`${page.address}: ${target}`);
      else if (anchor !== "" && file.endsWith(".html")) {
        const known = anchors.get(file) ?? anchorsOf(textOf(file));
        anchors.set(file, known);
        if (!known.has(decodeURIComponent(anchor))) broken.add(`${page.address}: ${target}`);
      }
    }
  }

  expect([...broken]).toEqual([]);
});

it("38.5: loads nothing from another host", () => {
  const loaded = pages.flatMap(({ html }) =>
    [
      ...html.matchAll(
        /<(?:script|img|link|iframe|source)\b[^>]*\s(?:src|href|srcset)="(https?:)?\/\/([^"/]+)/g,
      ),
    ].map(([, , host]) => host),
  );

  expect(loaded).toEqual([]);
});

it("38.5: serves the Markdown of each page at its address with .md, llms.txt and llms-full.txt", () => {
  for (const file of documents.filter((path) => path.startsWith("docs/"))) {
    const copy = textOf(file.replace(/^docs\//, "").replace(/^README/, "index"));
    const [title] = readFileSync(join(root, file), "utf8").split("\n");
    expect(copy.split("\n")[0]).toBe(title);
    expect(copy).not.toMatch(/\]\(\.\.\//);
  }
  const llms = textOf("llms.txt");
  const links = [...llms.matchAll(/\]\((https:\/\/onceonly\.github\.io)(\/onceonly\/[^)]+)\)/g)];
  expect(links.length).toBeGreaterThan(30);
  expect(links.filter(([, , path = ""]) => fileAt(path) === undefined)).toEqual([]);
  expect(textOf("llms-full.txt")).toContain(llms);
});

it("38.5: has an index for the search that a reader loads quickly", () => {
  const folder = join(SITE, "assets/chunks");
  const index = readdirSync(folder).filter((file) => file.includes("localSearchIndex"));

  expect(index).toHaveLength(1);
  const { byteLength } = gzipSync(readFileSync(join(folder, index[0]!)));
  expect(byteLength).toBeLessThan(300_000);
  console.log(`the search has an index of ${byteLength} bytes, gzipped`);
});

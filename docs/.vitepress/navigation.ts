// The site's sections and pages, read from the folders of docs: a new page appears without a change here.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

/** A page of the site, by its path in docs. */
export interface Page {
  readonly path: string;
  readonly title: string;
}

export interface Section {
  readonly title: string;
  readonly pages: readonly Page[];
}

const TITLES = {
  start: "Start",
  guides: "Guides",
  operate: "Operate",
  reference: "Reference",
  api: "API",
  proof: "Proof",
} as const;

/** Pages that are in no folder, and the section that shows them. */
const LOOSE = { proof: ["architecture.md"] } as Readonly<Record<string, readonly string[]>>;

/** The list of all pages on GitHub, and the home page of the site. */
export const HOME = "README.md";

/** The sections in the order of the navigation. In each, pages are in the order of docs/README.md, or of the API's own list. */
export function sectionsOf(docs: string): Section[] {
  const listed = [...linksIn(docs, HOME), ...linksIn(docs, "api/index.md")];
  const rank = (path: string) => (listed.includes(path) ? listed.indexOf(path) : listed.length);
  const byRank = (left: string, right: string) =>
    Number(right.endsWith("/index.md")) - Number(left.endsWith("/index.md")) ||
    rank(left) - rank(right) ||
    left.localeCompare(right, "en");

  const sections = Object.entries(TITLES).map(([folder, title]) => ({
    title,
    pages: [...(LOOSE[folder] ?? []), ...pagesIn(docs, folder)]
      .sort(byRank)
      .map((path) => ({ path, title: titleOf(join(docs, path)) })),
  }));
  // The API reference is generated, and absent until then.
  return sections.filter(({ pages }) => pages.length > 0);
}

/** The address of a page below the base of the site. */
export function addressOf(path: string): string {
  return `/${path.replace(/(?:(?<=^|\/)(?:index|README))?\.md$/, "")}`;
}

/** The pages that a page links to, in its order. */
function linksIn(docs: string, page: string): string[] {
  const file = join(docs, page);
  if (!existsSync(file)) return [];
  return [...readFileSync(file, "utf8").matchAll(/\]\(([^)#]+\.md)\)/g)].map(([, path = ""]) =>
    posix.join(posix.dirname(page), path),
  );
}

function pagesIn(docs: string, folder: string): string[] {
  if (!existsSync(join(docs, folder))) return [];
  return readdirSync(join(docs, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => `${folder}/${file.replaceAll("\\", "/")}`);
}

function titleOf(file: string): string {
  const title = /^# (.+)$/m.exec(readFileSync(file, "utf8"))?.[1];
  if (title === undefined) throw new Error(`${file} has no heading of the first level`);
  return title.replaceAll("`", "").replaceAll("\\", "");
}

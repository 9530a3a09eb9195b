// What the site serves for readers that aren't browsers: each page's Markdown, llms.txt and llms-full.txt.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { PROJECT_URL } from "../../lib/contract.ts";
import { siteLink } from "./links.ts";
import { HOME, type Section } from "./navigation.ts";

const RAW = `${PROJECT_URL.replace("github.com", "raw.githubusercontent.com")}/main/docs/`;
const LINK = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)/g;

interface Site {
  /** The folder of the Markdown. */
  readonly docs: string;
  readonly outDir: string;
  /** Where the site is published, with a slash at the end. */
  readonly url: string;
}

export function writeCopies({ docs, outDir, url }: Site, sections: readonly Section[]): void {
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(outDir, path)), { recursive: true });
    writeFileSync(join(outDir, path), text);
  };
  const target = (href: string, path: string, isPicture: boolean) =>
    isPicture && !/^https?:/.test(href)
      ? `${RAW}${posix.join(posix.dirname(path), href)}`
      : absoluteLink(siteLink(href, path), url);
  const absolute = (path: string) =>
    outsideCode(readFileSync(join(docs, path), "utf8"), (text) =>
      text.replaceAll(LINK, (link, mark, label, href) =>
        href.startsWith("#") ? link : `${mark}[${label}](${target(href, path, mark === "!")})`,
      ),
    );
  const pages = sections.flatMap((section) => section.pages.map(({ path }) => path));

  for (const path of pages) write(path, absolute(path));
  write("index.md", absolute(HOME));
  const llms = readFileSync(join(docs, "../llms.txt"), "utf8").replaceAll(RAW, url);
  write("llms.txt", llms);
  const whole = pages.filter((path) => !path.startsWith("api/")).map(absolute);
  write("llms-full.txt", [llms, ...whole].join("\n\n---\n\n"));
}

function absoluteLink(link: string, url: string): string {
  return link.startsWith("/") ? `${url}${link.slice(1)}` : link;
}

function outsideCode(markdown: string, change: (text: string) => string): string {
  return markdown
    .split(/(^```[\s\S]*?^```$)/m)
    .map((part, index) => (index % 2 === 0 ? change(part) : part))
    .join("");
}

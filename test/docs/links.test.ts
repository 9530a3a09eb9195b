// Each link of a Markdown file leads to a file, and each anchor to a place in it, as on GitHub. test/site/links does it for the built site.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { expect, it } from "vitest";
import { slugOf } from "../../docs/.vitepress/links.ts";
import { root } from "../kit/project.ts";

const CODE = /^( *)(```+|~~~+).*\n[\s\S]*?^\1\2 *$/gm;
const read = (file: string) => readFileSync(join(root, file), "utf8").replaceAll(CODE, "");

function targetsIn(markdown: string): string[] {
  const links = markdown
    .replaceAll(/`[^`\n]+`/g, "code")
    .matchAll(/\]\(<?([^)\s>]+)|\s(?:href|src)="([^"]+)"/g);
  return [...links]
    .map(([, link, attribute]) => (link ?? attribute)!)
    .filter((target) => !/^[a-z]+:/i.test(target));
}

function anchorsIn(markdown: string): Set<string> {
  const anchors = new Set([...markdown.matchAll(/\bid="([^"]+)"/g)].map(([, id]) => id!));
  for (const [, heading] of markdown.matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = slugOf(heading!.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1"));
    let name = slug;
    for (let nth = 1; anchors.has(name); nth++) name = `${slug}-${nth}`;
    anchors.add(name);
  }
  return anchors;
}

const files = [".", ".github", "docs", "examples", "lib", "packages", "test"]
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: folder !== ".", encoding: "utf8" }).map((file) =>
      posix.join(folder, file.replaceAll("\\", "/")),
    ),
  )
  .filter((file) => file.endsWith(".md") && !/node_modules|^docs\/api\//.test(file));

it.each(files)("38.5: %s links only to what is there", (file) => {
  const broken = targetsIn(read(file)).filter((target) => {
    const [path = "", anchor] = target.split("#").map(decodeURIComponent);
    const found = path === "" ? file : posix.join(posix.dirname(file), path);
    if (!existsSync(join(root, found))) return true;
    return anchor !== undefined && found.endsWith(".md") && !anchorsIn(read(found)).has(anchor);
  });

  expect(broken).toEqual([]);
});

// The generated parts of documents. A part stands between `<!-- generated: name -->` and `<!-- end -->`. If its name is that of
// a TypeScript file, the part shows the file. The test that gives a page its other parts writes them all with `-u`.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { root } from "./project.ts";

type Parts = Readonly<Record<string, string>>;

const PART = /^<!-- generated: ([^\n]+) -->\n(.*?)^<!-- end -->$/gms;
const MARKER = /^<!-- (?:generated: .+|end) -->$/gm;

/** Expects a page, named from the project's root, to have each part as it's generated now. */
export async function expectGenerated(page: string, parts: Parts = {}): Promise<void> {
  const path = join(root, page);
  await expect(withGenerated(readFileSync(path, "utf8"), parts)).toMatchFileSnapshot(path);
}

/** The page with each part as it's generated now. @throws Error if a marker or a part has no counterpart */
export function withGenerated(page: string, parts: Parts): string {
  const names = Object.keys(partsIn(page));
  const missing = Object.keys(parts).filter((name) => !names.includes(name));
  if (missing.length > 0) throw new Error(`the page has no <!-- generated: ${missing[0]} -->`);
  return page.replaceAll(
    PART,
    (_, name: string) => `<!-- generated: ${name} -->\n\n${parts[name] ?? fileFence(name)}\n\n<!-- end -->`,
  );
}

/** The parts as they stand, by name. @throws Error if a marker has no counterpart, or a name stands there twice */
export function partsIn(page: string): Parts {
  const parts = [...page.matchAll(PART)].map(([, name = "", text = ""]) => [name, text.trim()] as const);
  const names = new Set(parts.map(([name]) => name));
  if ([...page.matchAll(MARKER)].length !== 2 * names.size)
    throw new Error("the page has a part without a beginning or an end, or two of one name");
  return Object.fromEntries(parts);
}

/** Whether a part shows a file. */
export const isFile = (name: string) => name.endsWith(".ts");

function fileFence(file: string): string {
  if (!isFile(file)) throw new Error(`the page has a part ${file}, which nothing generates`);
  if (!existsSync(join(root, file))) throw new Error(`there is no ${file}, which the page shows`);
  return `\`\`\`ts\n${readFileSync(join(root, file), "utf8")}\`\`\``;
}

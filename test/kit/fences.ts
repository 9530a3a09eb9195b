// The code of Markdown documents.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./project.ts";

export interface Fence {
  /** The Markdown document, from the project's root. */
  readonly file: string;
  /** The first line of code, counted from 1. */
  readonly line: number;
  readonly code: string;
}

/** The name of the source file that a fence becomes. */
export function moduleOf({ file, line }: Fence): string {
  return `${file.replaceAll(/\W/g, "-")}-${line}.mts`;
}

/** The packages that a fence imports, without those of Node. */
export function packagesIn({ code }: Fence): string[] {
  const imported = [...code.matchAll(/\b(?:from|import)\b\s*\(?\s*"((?:@[^"/]+\/)?[^"/]+)/g)];
  return imported.map(([, name]) => name!).filter((name) => !name.startsWith("node:"));
}

/** The ts fences of a document, in order. */
export function typescriptFences(file: string): Fence[] {
  return fencesOf(file, "ts");
}

/** The fences of a document in one language, in order. */
export function fencesOf(file: string, language: string): Fence[] {
  const markdown = readFileSync(join(root, file), "utf8");
  return [...markdown.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))].map((fence) => ({
    file,
    line: markdown.slice(0, fence.index).split("\n").length + 1,
    code: fence[1]!,
  }));
}

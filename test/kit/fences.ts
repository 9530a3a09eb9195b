// The code of Markdown documents.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { documents, root } from "./project.ts";

export interface Fence {
  /** The Markdown document, from the project's root. */
  readonly file: string;
  /** The first line of code, counted from 1. */
  readonly line: number;
  readonly code: string;
  /** The file that the fence shows, which test/docs/generated.test.ts compares. */
  readonly from: string | undefined;
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

/**
 * The ts fences of all documents that compile by themselves. An example that imports its neighbour is compiled where it is.
 */
export function compiledFences(): Fence[] {
  const importsNeighbour = ({ from, code }: Fence) => from !== undefined && /"\.\.?\//.test(code);
  return documents
    .flatMap((document) => typescriptFences(document))
    .filter((fence) => !importsNeighbour(fence));
}

/** The fences of a document in one language, in order. */
export function fencesOf(file: string, language: string): Fence[] {
  const markdown = readFileSync(join(root, file), "utf8");
  const fences = new RegExp(
    `(?:^<!-- generated: (\\S+\\.ts) -->\n\n)?^\`\`\`${language}\n(.*?)^\`\`\`$`,
    "gms",
  );
  return [...markdown.matchAll(fences)].map(({ index, 1: from, 2: code }) => ({
    file,
    line: markdown.slice(0, index).split("\n").length + (from === undefined ? 1 : 3),
    code: code!,
    from,
  }));
}

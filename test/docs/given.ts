// The titles of the tests, read from their sources: which rows of docs/proof/hazards.md they name, and what files hold.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../kit/project.ts";

export interface TestFile {
  /** From the project's root. */
  readonly path: string;
  readonly source: string;
}

/** A test that names a row, such as `H8: wins its own claim`. */
export interface RowTitle {
  readonly row: number;
  readonly file: string;
  /** Without the rows; what changes from case to case is an ellipsis. */
  readonly text: string;
}

// What follows distinguishes a title from the name of a property.
const TITLE = /(["'`])((?:H\d+(?:, |: ))+)((?:(?!\1)[^\n\\]|\\.)+)\1(?=\s*[,;])/g;

/** A text after an opening bracket or on a line of its own, as `it` and `it.each` take it. */
const ANY_TITLE = /(?:\(|^\s*)(["'`])((?:(?!\1)[^\n\\]|\\.)+)\1(?=\s*,)/gm;

const NO_TESTS =
  /^(test\/(docs\/(?!recipes\.)|fixtures\/)|packages\/(\w+\/(lib|dist)|proof\/(measure|show))\/)|\/node_modules\//;

/** The tests of all packages, but those of this folder that have texts about titles. */
export function testFiles(): TestFile[] {
  return ["test", "packages"]
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map(
        (path) => `${folder}/${path.replaceAll("\\", "/")}`,
      ),
    )
    .filter((path) => path.endsWith(".ts") && !NO_TESTS.test(path))
    .sort()
    .map((path) => ({ path, source: readFileSync(join(root, path), "utf8") }));
}

export function rowTitles(files: readonly TestFile[]): RowTitle[] {
  return files.flatMap(({ path: file, source }) =>
    [...source.matchAll(TITLE)].flatMap(([, , rows = "", text = ""]) =>
      [...rows.matchAll(/\d+/g)].map(([row]) => ({ row: Number(row), file, text: shown(text) })),
    ),
  );
}

/** Every title in a file, without the rows it names. */
export function titlesOf({ source }: TestFile): string[] {
  return [...source.matchAll(ANY_TITLE)].map(([, , title = ""]) =>
    shown(title.replace(/^(?:H\d+(?:, |: ))+/, "")),
  );
}

/** A title as a document shows it. */
function shown(title: string): string {
  return title
    .replace(/\$\{[^}]*\}|\$[a-z]\w*|%[sdifjo#]/g, "…")
    .replace(/\\(.)/g, "$1")
    .trim();
}

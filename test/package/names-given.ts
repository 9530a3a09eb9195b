// The names that a module exports, types included, read from its source.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const DECLARATION = /^export (?:abstract )?(?:class|const|function|async function|interface|type) (\w+)/gm;
const LIST = /^export (?:type )?\{([^}]*)\}/gm;
const STAR = /^export (?:type )?\* from "([^"]+)"/gm;

/** Sorted. A name in a list may be renamed by `as`. */
export function exportedNames(file: string): string[] {
  const source = readFileSync(file, "utf8");
  const listed = [...source.matchAll(LIST)].flatMap(([, names]) =>
    names!
      .split(",")
      .map((name) => /(\w+)\s*$/.exec(name)?.[1])
      .filter((name) => name !== undefined),
  );
  const declared = [...source.matchAll(DECLARATION)].map(([, name]) => name!);
  const passedOn = [...source.matchAll(STAR)].flatMap(([, path]) =>
    exportedNames(join(dirname(file), path!)),
  );
  return [...listed, ...declared, ...passedOn].sort();
}

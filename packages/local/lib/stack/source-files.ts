// An app's files, as they were when they were last read: reports which have different content now. Touched files with the
// same content don't count, so an app that builds as it is synthesized doesn't look changed by that.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";

export interface SourceFiles {
  /** The paths of files that were added, removed or changed since the last call; all of them in the first call. */
  changed(roots: readonly string[]): string[];
}

interface Seen {
  /** Changes whenever the file is written. */
  readonly stamp: string;
  readonly content: string;
}

/** Not an app's sources: packages, a tool's own files, and the output of a synthesis. */
const LEFT_OUT = /^(\..*|node_modules|cdk\.out.*|coverage)$/;
const MAX_FILES = 20_000;
/** Larger files are compared by when they were written. */
const MAX_READ_BYTES = 2 ** 22;

/** @throws Error in the first `changed`, for more files than can be looked at again and again */
export function createSourceFiles(): SourceFiles {
  let seen = new Map<string, Seen>();
  return {
    changed(roots) {
      const now = new Map<string, Seen>();
      for (const path of filesIn(roots)) {
        const file = look(path, seen.get(path));
        if (file !== undefined) now.set(path, file);
        if (now.size > MAX_FILES && seen.size === 0) {
          throw new Error(`${roots.join(", ")} has more than ${MAX_FILES} files`);
        }
      }
      const paths = [...new Set([...seen.keys(), ...now.keys()])];
      const changed = paths.filter((path) => seen.get(path)?.content !== now.get(path)?.content);
      seen = now;
      return changed;
    },
  };
}

/** The same for two folders whose files are the same, packages included. */
export function contentOf(folder: string): string {
  const hash = createHash("sha256");
  for (const path of filesIn([folder], /^$/)) {
    hash.update(
      JSON.stringify([relative(folder, path), look(path, undefined, Number.POSITIVE_INFINITY)?.content]),
    );
  }
  return hash.digest("hex");
}

function look(path: string, before: Seen | undefined, maxReadBytes = MAX_READ_BYTES): Seen | undefined {
  try {
    const { mtimeMs, size } = statSync(path);
    const stamp = `${mtimeMs} ${size}`;
    if (before?.stamp === stamp) return before;
    const isRead = size <= maxReadBytes;
    const content = isRead ? createHash("sha256").update(readFileSync(path)).digest("hex") : stamp;
    return { stamp, content };
  } catch {
    // It was removed a moment ago.
    return undefined;
  }
}

function* filesIn(roots: readonly string[], leftOut: RegExp = LEFT_OUT): Generator<string> {
  for (const root of roots) {
    const isFolder = statSync(root, { throwIfNoEntry: false })?.isDirectory();
    if (isFolder === false) yield root;
    if (isFolder) yield* filesBelow(root, leftOut);
  }
}

function* filesBelow(folder: string, leftOut: RegExp): Generator<string> {
  for (const entry of entriesOf(folder)) {
    if (leftOut.test(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path, leftOut);
    else if (entry.isFile() || entry.isSymbolicLink()) yield path;
  }
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    // It was removed a moment ago.
    return [];
  }
}

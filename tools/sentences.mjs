// Lists sentences of more than 25 words, and starts that are no English, in comments and documents.
//   npm run sentences                              everything, and a count for each folder
//   npm run sentences -- lib/messaging README.md   these folders and files
//   npm run sentences -- --counts                  the counts only
//   npm run sentences -- --long                    long sentences only
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { commentsOf } from "./sentences/comments.mjs";
import { MOST_WORDS, sentencesOf } from "./sentences/prose.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const CODE = new Set([".ts", ".mts", ".js", ".mjs", ".cjs"]);
/** Folders of code whose parts are counted apart. */
const WINGS = /^(?:(?:lib|bench|test|docs)\/[^/]+(?=\/)|[^/]+(?=\/))/;

/**
 * What is wrong with the sentences of one file.
 * @param {string} file
 * @param {string} text
 * @returns {{ line: number, problem: "long" | "start", words: number, text: string }[]}
 */
export function findingsOf(file, text) {
  const blocks = CODE.has(extname(file)) ? commentsOf(text) : [{ line: 1, text }];
  return blocks
    .flatMap(({ line, text }) => sentencesOf(text, line))
    .flatMap(({ badStart, ...sentence }) => [
      ...(sentence.words > MOST_WORDS ? [{ ...sentence, problem: "long" }] : []),
      ...(badStart ? [{ ...sentence, problem: "start" }] : []),
    ]);
}

/** Findings of all files that the repository keeps, or of those at and below the given paths. */
export function findingsBelow(paths = []) {
  const wanted = paths.map((path) => path.replace(/^\.\//, "").replace(/\/$/, ""));
  const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  })
    .split("\n")
    .filter(
      (file) =>
        extname(file) === ".md" ||
        (CODE.has(extname(file)) && /^(?:lib|functions|bin|bench|kit|test|tools)\//.test(file)),
    )
    .filter(
      (file) => wanted.length === 0 || wanted.some((path) => file === path || file.startsWith(`${path}/`)),
    )
    .filter((file) => existsSync(join(root, file)));
  return files.map((file) => ({
    file,
    folder: WINGS.exec(file)?.[0] ?? file,
    findings: findingsOf(file, readFileSync(join(root, file), "utf8")),
  }));
}

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { counts: { type: "boolean" }, long: { type: "boolean" }, "also-starts": { type: "boolean" } },
  });
  /** @type {Map<string, { long: number, start: number }>} */
  const counts = new Map();
  for (const { file, folder, findings } of findingsBelow(positionals)) {
    const count = counts.get(folder) ?? { long: 0, start: 0 };
    counts.set(folder, count);
    for (const { line, problem, words, text } of findings) {
      count[problem] += 1;
      if (values.counts || (values.long && problem === "start")) continue;
      console.log(`${file}:${line}: ${problem === "long" ? `${words} words` : "start"}: ${text}`);
    }
  }
  const rows = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  const total = rows.reduce(
    (sum, [, { long, start }]) => ({ long: sum.long + long, start: sum.start + start }),
    { long: 0, start: 0 },
  );
  console.log(`${"\nlong".padStart(6)} ${"starts".padStart(6)}  folder`);
  for (const [folder, { long, start }] of [...rows, ["total", total]]) {
    console.log(`${String(long).padStart(5)} ${String(start).padStart(6)}  ${folder}`);
  }
  process.exitCode = total.long + total.start > 0 ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();

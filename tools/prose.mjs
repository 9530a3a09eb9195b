// Counts habits that make sentences hard to read, per file: in pages, comments, messages (strings and templates) and the titles of
// tests. Advises, never fails. `npm run prose` lists the counts; `npm run prose -- lib/core` shows each line below a folder or file.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** What to look for, and what a colleague would say instead. */
const HABITS = [
  [/\b(nobody|somebody|whoever|everybody|those who)\b/gi, "name who acts"],
  [/\b(tells?|told|hears?|heard)\b/gi, "log, report, return, receive"],
  [/\b(anew|mends?|mended|besides|beside|behind)\b/gi, "again, fix, also, next to, after"],
  [/(?<!\bthere )\b(is|are) (no|none)\b/gi, "isn't a, there are no"],
  [/\bof (its|yours|ours|their|his|her)( own)?\b(?= own|[.,;:)]|$)/gi, "its own, your"],
  [/\btakes? (a|an|the|no|at most|only)\b/gi, "accepts, requires, lasts"],
  [/\bso that (no|it|its|their|one|a|each)\b/gi, "so"],
  [/\b(texts?|list) of\b/gi, "string, array"],
];

const COMMENT_OR_TEXT = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|(["'`])(?:\\.|(?!\1)[^\\])*\1/g;

/** The code before a title: `it(`, `describe.skip(`, or the table of `it.each(…)(`. */
const BEFORE_TITLE = /(\b(it|test|describe)(\.\w+)*|\))\(\s*$/;

const [under] = process.argv.slice(2);
const tracked = execFileSync("git", ["ls-files", ...(under ? [under] : [])], { encoding: "utf8" });
const files = tracked.split("\n").filter((path) => /\.(m?ts|tsx|mjs|md)$/.test(path));

let total = 0;
let words = 0;
for (const path of files) {
  const pieces = piecesOf(path);
  words += pieces.flatMap(({ text }) => text.match(/[a-z]+/gi) ?? []).length;
  const found = pieces.flatMap(({ line, text }) =>
    HABITS.flatMap(([habit, instead]) =>
      [...text.matchAll(habit)].map(([word]) => ({ line, word, text, instead })),
    ),
  );
  total += found.length;
  if (under)
    for (const { line, word, text, instead } of found)
      console.log(`${path}:${line} ${word} (${instead}): ${text}`);
  else if (found.length > 0) console.log(`${String(found.length).padStart(5)}  ${path}`);
}
console.log(`${String(total).padStart(5)}  in all, ${((1000 * total) / words).toFixed(1)} per 1,000 words`);

/** A page's lines without its code, a module's comments and messages, or a test's comments and titles. */
function piecesOf(path) {
  const source = readFileSync(path, "utf8");
  const lineAt = (offset) => source.slice(0, offset).split("\n").length;
  if (path.endsWith(".md")) {
    const prose = source.replaceAll(/^```[\s\S]*?^```/gm, (code) => code.replaceAll(/[^\n]/g, ""));
    return prose.split("\n").map((text, index) => ({ line: index + 1, text: text.trim() }));
  }
  return (
    [...source.matchAll(COMMENT_OR_TEXT)]
      // Strings with several lines are SQL and scripts.
      .filter(([text, quote]) => !quote || (!text.includes("\n") && /[a-z`}] [a-z{$`]/i.test(text)))
      .filter(
        ({ 1: quote, index }) =>
          !quote ||
          !/(^|\/)test\//.test(path) ||
          BEFORE_TITLE.test(source.slice(Math.max(0, index - 60), index)),
      )
      .map(({ 0: text, index }) => ({ line: lineAt(index), text: text.replaceAll(/\s+/g, " ") }))
  );
}

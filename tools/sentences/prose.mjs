// Splits prose into sentences and counts their words. A code span is one word, and a link counts its text.

/** More words than these are more than a reader keeps in mind. */
export const MOST_WORDS = 25;

/** Heads of what is no English sentence: a question that asks nothing, or a clause before its noun. */
const BAD_STARTS = [
  /^Whose\b/,
  /^What (?:of|goes of|there is of)\b/,
  /^So let\b/,
  /^Where\b[^,;:]*,/,
  /^Of\b/,
  /^(?:Until|From|Since) when\b/,
  /^(?:To|For|By|With|From|At) (?:whom|what|which)\b/,
  /^Nor\b/,
  /^Not by\b/,
  /^(?:That|Those) of\b/,
  /^Told of\b/,
  /^So (?:long|many|much|far)\b/,
  /^Whoever\b/,
  /^Else\b/,
];
const ABBREVIATION = /(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|no|St|Mr|Ms|Dr)\.$/;
const CODE = "\uE000";
const LIST_ITEM = /^\s*(?:[-*+]|\d+[.)])\s+/;

/**
 * The sentences of a text with their lines and words. Tables, fences, headings' marks and HTML are left out.
 * @param {string} text
 * @param {number} [firstLine]
 * @returns {{ line: number, words: number, text: string, badStart: boolean }[]}
 */
export function sentencesOf(text, firstLine = 1) {
  return paragraphs(text, firstLine).flatMap(split);
}

/** Paragraphs: a list item, a heading and a quote's paragraph are one each. */
function paragraphs(text, firstLine) {
  const found = [];
  let fence = "";
  let open = false;
  for (const [index, full] of withoutHtmlComments(text).split("\n").entries()) {
    const line = full.replace(/^\s*>\s?/, "");
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1] ?? "";
    if (mark !== "" && (fence === "" || mark.startsWith(fence))) fence = fence === "" ? mark : "";
    if (mark !== "" || fence !== "" || /^\s*\|/.test(line) || line.trim() === "" || isRule(line)) {
      open = false;
      continue;
    }
    const alone = /^\s*#{1,6}\s/.test(line);
    if (!open || alone || LIST_ITEM.test(line)) found.push([]);
    found
      .at(-1)
      .push({ line: firstLine + index, text: line.replace(LIST_ITEM, "").replace(/^\s*#{1,6}\s+/, "") });
    open = !alone;
  }
  return found;
}

const isRule = (line) => /^\s*(?:[-=_*]\s*){3,}$/.test(line);

/** An HTML comment becomes as many empty lines as it has. */
function withoutHtmlComments(text) {
  return text.replace(/<!--[\s\S]*?-->/g, lineBreaks);
}

/** Splits one paragraph, and tells for each sentence the line of its first word. */
function split(lines) {
  const text = plain(lines.map((line) => line.text.trim()).join("\n"));
  const found = [];
  let start = 0;
  for (const end of ends(text)) {
    const sentence = text.slice(start, end);
    const lead = /^\s*/.exec(sentence)[0];
    const line = lines[0].line + text.slice(0, start + lead.length).split("\n").length - 1;
    const shown = sentence.trim().replace(/\s+/g, " ");
    const words = shown.split(" ").filter((word) => /[\p{L}\p{N}\uE000]/u.test(word)).length;
    const badStart = BAD_STARTS.some((start) => start.test(shown)) && !shown.endsWith("?");
    if (words > 0) found.push({ line, words, text: shown.replaceAll(CODE, "`…`"), badStart });
    start = end;
  }
  return found;
}

/** Where sentences end: after a full stop, a question mark or an exclamation mark before a gap. */
function ends(text) {
  const found = [];
  for (const match of text.matchAll(/[.!?]["'”’)*_]*(?=\s|$)/g)) {
    const upTo = text.slice(0, match.index + 1);
    if (!ABBREVIATION.test(upTo) && !upTo.endsWith("...")) found.push(match.index + match[0].length);
  }
  if (found.at(-1) !== text.length) found.push(text.length);
  return found;
}

/** Code spans are replaced first, because what is in them is neither a link nor a tag. */
function plain(text) {
  return text
    .replace(/(`+)[^`]+?\1/g, (span) => CODE + lineBreaks(span))
    .replace(/<\/?[a-z][^<>]*>/g, lineBreaks)
    .replace(/\{@link\s+([^}|]*)(?:\|([^}]*))?\}/g, (_, target, shown) => shown ?? CODE + lineBreaks(target))
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/!?\[([^\]]*)\]\[[^\]]*\]/g, "$1")
    .replace(/https?:\/\/[^\s)]+[^\s).,;:]/g, CODE)
    .replace(/\*\*|__/g, "");
}

const lineBreaks = (/** @type {string} */ part) => part.replace(/[^\n]/g, "");

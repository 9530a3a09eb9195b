// Finds the comments of TypeScript and JavaScript, and leaves out strings, templates and regular expressions.

/** The token before a slash that begins a regular expression; after anything else a slash divides. */
const BEFORE_PATTERN = /^(?:[(,=:[!&|?{};+\-*%~^<>]|return|typeof|case|in|of|await|throw|else|do)?$/;
const WORD = /\w/;
/** A command or a sketch in a comment. */
const INDENTED = /^\/\/ {3}/;
/** Comments for a tool: they are not written in English. */
const DIRECTIVE = /^\s*(?:biome-ignore|@ts-|@vitest|@type|@import|v8 ignore|c8 ignore|Stryker|#|\/\s*<)/;
/** Tags that code follows, or nothing that could be a sentence. */
const CODE_TAG = /^@(?:example|see|type|typedef|template|internal|import)\b/;

/**
 * Blocks of text with the line where each begins. Lines of `//` that follow each other are one block.
 * @param {string} source
 * @returns {{ line: number, text: string }[]}
 */
export function commentsOf(source) {
  const blocks = [];
  for (const { start, end } of ranges(source)) {
    const raw = source.slice(start, end);
    const line = source.slice(0, start).split("\n").length;
    if (raw.startsWith("/*")) {
      blocks.push({ line, last: -1, own: false, text: blockText(raw) });
      continue;
    }
    const own = source.slice(source.lastIndexOf("\n", start - 1) + 1, start).trim() === "";
    const text = INDENTED.test(raw) ? "" : raw.slice(2);
    const before = blocks.at(-1);
    if (DIRECTIVE.test(text)) continue;
    if (own && before?.own && before.last === line - 1) {
      before.text += `\n${text.trim()}`;
      before.last = line;
    } else blocks.push({ line, last: line, own, text: text.trim() });
  }
  return blocks.filter(({ text }) => !DIRECTIVE.test(text)).map(({ line, text }) => ({ line, text }));
}

/** The text of a block comment, as prose.mjs reads it: a list item for each tag. Examples and types are no sentences. */
function blockText(raw) {
  const lines = raw.slice(2, -2).replace(/^\*/, "").split("\n");
  let code = false;
  return lines
    .map((line) => {
      const text = line.replace(/^\s*\* ?/, "").trimEnd();
      const tag = text.trim().startsWith("@");
      if (tag) code = CODE_TAG.test(text.trim());
      if (code) return "";
      return tag ? `- ${withoutTag(text.trim())}` : text;
    })
    .join("\n");
}

function withoutTag(text) {
  return text
    .replace(/^@(?:param|property)\s+(?:\{.*\}\s*)?\S*\s*(?:- )?/, "")
    .replace(/^@\w+\s*(?:\{.*\}\s*)?(?:- )?/, "");
}

/** Where comments begin and end. */
function ranges(source) {
  const found = [];
  const braces = [];
  let at = 0;
  let before = "";
  while (at < source.length) {
    const two = source.slice(at, at + 2);
    const char = source[at];
    if (two === "//" || (two === "#!" && at === 0)) {
      const end = endOf(source, "\n", at);
      if (two === "//") found.push({ start: at, end });
      at = end;
    } else if (two === "/*") {
      const end = endOf(source, "*/", at + 2) + 2;
      found.push({ start: at, end });
      at = end;
    } else if (char === '"' || char === "'") {
      at = endOfQuoted(source, at + 1, char);
      before = '"';
    } else if (char === "`" || (char === "}" && braces.at(-1) === "template")) {
      if (char === "}") braces.pop();
      at = endOfTemplate(source, at + 1);
      if (source[at - 1] === "{") braces.push("template");
      before = source[at - 1] === "{" ? "{" : '"';
    } else if (char === "/" && BEFORE_PATTERN.test(before)) {
      at = endOfPattern(source, at + 1);
      before = '"';
    } else {
      if (char === "{") braces.push("code");
      if (char === "}") braces.pop();
      if (/\S/.test(char)) before = WORD.test(char) && WORD.test(source[at - 1] ?? "") ? before + char : char;
      at += 1;
    }
  }
  return found;
}

function endOf(source, mark, from) {
  const end = source.indexOf(mark, from);
  return end === -1 ? source.length : end;
}

function endOfQuoted(source, from, quote) {
  let at = from;
  while (at < source.length && source[at] !== quote && source[at] !== "\n") at += source[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** After the closing quote, or after the brace that begins an expression. */
function endOfTemplate(source, from) {
  let at = from;
  while (at < source.length) {
    if (source[at] === "\\") at += 2;
    else if (source[at] === "`") return at + 1;
    else if (source.startsWith("${", at)) return at + 2;
    else at += 1;
  }
  return at;
}

function endOfPattern(source, from) {
  let inClass = false;
  let at = from;
  while (at < source.length && source[at] !== "\n") {
    if (source[at] === "\\") at += 1;
    else if (source[at] === "[") inClass = true;
    else if (source[at] === "]") inClass = false;
    else if (source[at] === "/" && !inClass) return at + 1;
    at += 1;
  }
  return at;
}

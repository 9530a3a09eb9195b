// Makes the Markdown's links work on the site as they do on GitHub.
import { posix } from "node:path";
import type { MarkdownOptions } from "vitepress";
import { PROJECT_URL } from "../../lib/contract.ts";
import { HOME } from "./navigation.ts";

type MarkdownIt = Parameters<NonNullable<MarkdownOptions["config"]>>[0];

/** As GitHub names the anchor of a heading. */
export function slugOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Mark}\p{Number}\p{Connector_Punctuation}\- ]/gu, "")
    .replaceAll(" ", "-");
}

/** Where a link of the page at `page`, a path in docs, leads on the site. */
export function siteLink(href: string, page: string): string {
  if (/^([a-z]+:|#|\/)/i.test(href)) return href;
  const [path = "", hash] = href.split("#");
  const target = posix.normalize(posix.join("docs", posix.dirname(page), decodeURI(path)));
  const anchor = hash === undefined ? "" : `#${hash}`;
  if (target === `docs/${HOME}` || target === "docs") return `/${anchor}`;
  if (target.startsWith("docs/") && target.endsWith(".md"))
    return `/${target.slice("docs/".length)}${anchor}`;
  return `${PROJECT_URL}/${/\.\w+$/.test(target) ? "blob" : "tree"}/main/${target}${anchor}`;
}

/** What pages need beyond Markdown: an anchor, a break, a picture for light and dark. */
const TAG =
  /^<(\/?(a|b|br|code|details|em|i|img|kbd|picture|small|source|strong|sub|summary|sup)\b[^<>…]*|!--[\s\S]*--)>$/;

/** Where the picture of a crash belongs, also if the page has no place for it. */
const CRASH_PAGE = "start/core-ideas.md";
const PLACE = /<!-- component: (\w+) -->/;

/** A plugin of markdown-it: links as `siteLink` says, tables that scroll within the page, and text that is never a component. */
export function siteMarkdown(md: MarkdownIt): void {
  md.core.ruler.push("site", ({ tokens, env, Token }) => {
    for (const [index, { type, children, content }] of tokens.entries()) {
      // A column without a name has no header.
      if (type === "inline" && content === "" && tokens[index - 1]?.type === "th_open")
        for (const cell of [tokens[index - 1]!, tokens[index + 1]!]) cell.tag = "td";
      for (const token of children ?? []) {
        const href = token.type === "link_open" ? token.attrGet("href") : null;
        if (href !== null) token.attrSet("href", siteLink(href, pageOf(env)));
      }
    }
    if (pageOf(env) !== CRASH_PAGE || tokens.some(({ content }) => content.includes("CrashPicker"))) return;
    const place = new Token("html_block", "", 0);
    place.content = "<!-- component: CrashPicker -->";
    // Above the last section, which says where to go on.
    const last = tokens.findLastIndex(({ type, tag }) => type === "heading_open" && tag === "h2");
    tokens.splice(last < 0 ? tokens.length : last, 0, place);
  });
  // GitHub shows nothing of a comment.
  md.renderer.rules.html_block = (tokens, index) =>
    tokens[index]!.content.replace(PLACE, "<ClientOnly><$1 /></ClientOnly>");
  // A message such as `must be <name>` is text, and neither a tag nor a component.
  md.renderer.rules.html_inline = (tokens, index) => {
    const { content } = tokens[index]!;
    return TAG.test(content) ? content : md.utils.escapeHtml(content);
  };
  // The pages are plain Markdown: Vue has nothing to fill in.
  const render = md.renderer.render.bind(md.renderer);
  md.renderer.render = (tokens, options, env) =>
    render(tokens, options, env).replaceAll("{{", "&#123;&#123;");
  // A table is wider than a phone: it scrolls by itself, also by keyboard.
  md.renderer.rules.table_open = () => '<div class="wide" tabindex="0"><table>\n';
  md.renderer.rules.table_close = () => "</table></div>\n";
}

function pageOf({ relativePath }: { relativePath?: string }): string {
  return relativePath === undefined || relativePath === "index.md" ? HOME : relativePath;
}

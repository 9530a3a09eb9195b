// What the search knows of each page. Its index is one file that a reader loads with the first search.
import type { MarkdownEnv } from "vitepress";

/** Below these headings are lists that the code generates, each many times as long as an ordinary page. */
const LISTINGS: Readonly<Record<string, RegExp>> = {
  "proof/hazards.md": /^## Tests$/m,
};

interface Renderer {
  render(source: string, env: MarkdownEnv): string;
}

export function indexedText(source: string, env: MarkdownEnv, md: Renderer): string {
  const { relativePath = "" } = env;
  const html = md.render(source.slice(0, lengthOf(source, LISTINGS[relativePath])), env);
  if (!relativePath.startsWith("api/")) return html;
  // Names are what readers look for in the API; the texts are those of the guides.
  return [...html.matchAll(/<h([13])[\s\S]*?<\/h\1>/g)].map(([heading]) => heading).join("\n");
}

function lengthOf(source: string, end: RegExp | undefined): number {
  const at = end === undefined ? -1 : source.search(end);
  return at < 0 ? source.length : at;
}

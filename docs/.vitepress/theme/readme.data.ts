// What the home page shows of the README, so that both say the same.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createMarkdownRenderer, defineLoader } from "vitepress";
import { siteLink } from "../links.ts";

interface HomeParts {
  readonly tagline: string;
  /** HTML. */
  readonly loss: string;
  readonly links: readonly { readonly text: string; readonly link: string }[];
  /** HTML of the code. */
  readonly careless: string;
  readonly safe: string;
}

declare const data: HomeParts;

export { data };

const README = fileURLToPath(new URL("../../../README.md", import.meta.url));
const DOCS = fileURLToPath(new URL("../..", import.meta.url));

export default defineLoader({
  watch: [README],
  async load(): Promise<HomeParts> {
    const readme = readFileSync(README, "utf8");
    const find = (what: string, pattern: RegExp) => {
      const [, found] = pattern.exec(readme) ?? [];
      if (found === undefined) throw new Error(`the README has no ${what}, which the home page shows`);
      return found;
    };
    const md = await createMarkdownRenderer(DOCS, {
      theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    });
    const code = (language: string) =>
      md.render(find(`block of ${language}`, new RegExp(`^(\`\`\`${language}\\n[\\s\\S]*?^\`\`\`)$`, "m")));
    const loss = find("paragraph after the tagline", /^\*\*.+\*\*\n\n((?:.+\n)+)/m);
    const links = find("line of links", /^(\[[^\]]+\]\(docs\/[^)]+\)(?: · \[[^\]]+\]\(docs\/[^)]+\))*)$/m);

    return {
      tagline: find("tagline in bold", /^\*\*(.+)\*\*$/m),
      loss: md
        .renderInline(loss.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1"))
        .replaceAll(/\b\d+\b/g, "<strong>$&</strong>"),
      links: [...links.matchAll(/\[([^\]]+)\]\(docs\/([^)]+)\)/g)].map(([, text = "", path = ""]) => ({
        text: text.charAt(0).toUpperCase() + text.slice(1),
        link: siteLink(path, "README.md").replace(/\.md(?=#|$)/, ""),
      })),
      careless: code("js"),
      safe: code("ts"),
    };
  },
});

// The site: `npm run site` builds it into site/ from the Markdown of docs, which GitHub shows too.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import { PROJECT_URL } from "../../lib/contract.ts";
import { writeCopies } from "./copies.ts";
import { siteMarkdown, slugOf } from "./links.ts";
import { addressOf, HOME, sectionsOf } from "./navigation.ts";
import { indexedText } from "./search.ts";
import { browserShims } from "./theme/crash/browser-shims.ts";

const docs = fileURLToPath(new URL("..", import.meta.url));
const sections = sectionsOf(docs);
/** Below the address of a project on GitHub Pages. */
const base = process.env.ONCEONLY_SITE_BASE ?? "/onceonly/";
const [, owner] = /github\.com\/([^/]+)/.exec(PROJECT_URL) ?? [];

export default defineConfig({
  title: "onceonly",
  description:
    "Make Lambda handlers, queue consumers and workflows safe to retry: one effect, the same answer every time.",
  lang: "en",
  base,
  outDir: fileURLToPath(new URL("../../site", import.meta.url)),
  cacheDir: fileURLToPath(new URL("../../node_modules/.vitepress", import.meta.url)),
  cleanUrls: true,
  rewrites: { [HOME]: "index.md" },
  head: [
    ["link", { rel: "icon", type: "image/svg+xml", href: `${base}logo.svg` }],
    ["meta", { name: "theme-color", content: "#0f766e" }],
  ],
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    anchor: { slugify: slugOf },
    // Braces at the end of a line are text, such as a message that quotes code.
    attrs: { disable: true },
    config: siteMarkdown,
  },
  transformPageData: ({ filePath }) => ({
    ...(filePath === HOME && { frontmatter: { layout: "HomePage", title: "onceonly" } }),
    ...(filePath === "reference/options.md" && { frontmatter: { pageClass: "options" } }),
    ...(filePath.startsWith("api/") && { frontmatter: { editLink: false, outline: [2, 3] } }),
  }),
  transformHead: ({ pageData: { relativePath } }) => [
    ["link", { rel: "alternate", type: "text/markdown", href: `${base}${relativePath}` }],
  ],
  buildEnd: ({ outDir }) => writeCopies({ docs, outDir, url: `https://${owner}.github.io${base}` }, sections),
  vite: {
    plugins: [browserShims(`${docs}.vitepress/theme/crash/shims`)],
    build: { chunkSizeWarningLimit: 1000 },
  },
  themeConfig: {
    logo: "/logo.svg",
    nav: sections.map(({ title, pages }) => ({
      text: title,
      link: addressOf(pages[0]!.path),
      activeMatch: `^/${title.toLowerCase()}/`,
    })),
    sidebar: Object.fromEntries(
      sections.flatMap(({ title, pages }) => {
        const items = pages.map(({ path, title: text }) => ({ text, link: addressOf(path) }));
        const folders = new Set(pages.map(({ path }) => `/${path.replace(/(?<=\/).*|\.md$/, "")}`));
        return [...folders].map((folder) => [folder, [{ text: title, items }]]);
      }),
    ),
    outline: [2, 3],
    socialLinks: [{ icon: "github", link: PROJECT_URL }],
    editLink: { pattern: `${PROJECT_URL}/edit/main/docs/:path`, text: "Edit this page on GitHub" },
    search: {
      provider: "local",
      options: {
        _render: indexedText,
        miniSearch: { searchOptions: { boost: { title: 4, text: 2, titles: 1 } } },
      },
    },
    footer: { message: "Apache License 2.0" },
  },
});

// Writes the API reference into docs/api, one Markdown page for each public entry: `npm run site` calls it.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { PACKAGES, SOURCES } from "./entries.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const out = join(root, "docs/api");
/** TypeDoc is installed beside the TypeScript that it needs. */
const require = createRequire(new URL("api-reference/package.json", import.meta.url));
const { Application } = await import(pathToFileURL(require.resolve("typedoc")).href);

/** Names in imports, by source. A command exports nothing. */
const entries = SOURCES.filter(([name]) => !PACKAGES[name]?.isCommand);
const nameOf = (module) =>
  entries.find(([, source]) => source.replace(/(\/index)?\.ts$/, "") === module.name)?.[0] ?? module.name;

const app = await Application.bootstrapWithPlugins({
  plugin: [require.resolve("typedoc-plugin-markdown")],
  name: "API",
  basePath: root,
  entryPoints: entries.map(([, source]) => join(root, source)),
  tsconfig: join(root, "tsconfig.json"),
  // `npm run typecheck` does this, with TypeScript 7.
  skipErrorChecking: true,
  // Types that an entry uses and doesn't export: the signatures show their names.
  validation: {
    notExported: false,
    invalidLink: true,
    invalidPath: true,
    rewrittenLink: true,
    unusedMergeModuleWith: true,
  },
  treatWarningsAsErrors: true,
  readme: "none",
  excludePrivate: true,
  excludeExternals: true,
  disableSources: true,
  router: "module",
  entryFileName: "index",
  hidePageHeader: true,
  hideBreadcrumbs: true,
  useCodeBlocks: true,
  parametersFormat: "table",
  interfacePropertiesFormat: "table",
  classPropertiesFormat: "table",
  typeAliasPropertiesFormat: "table",
  groupOrder: ["Modules", "Functions", "Classes", "Interfaces", "Type Aliases", "Variables"],
  logLevel: "Warn",
});
const project = await app.convert();
if (project === undefined) process.exit(1);
for (const module of project.children) module.name = nameOf(module);
app.validate(project);
rmSync(out, { recursive: true, force: true });
await app.outputs.writeOutput({ name: "markdown", path: out }, project);

const pages = readdirSync(out, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".md"));
for (const page of pages) {
  const file = join(out, page);
  writeFileSync(file, withLinks(readFileSync(file, "utf8"), dirname(file)));
}
if (app.logger.hasErrors() || app.logger.hasWarnings()) process.exit(1);
console.log(`${pages.length} pages of the API in docs/api`);

/** TSDoc names a page as `docs/guides/keys.md`, which editors show as text. */
function withLinks(markdown, folder) {
  return markdown.replaceAll(/(?<![\w/]|\]\()docs\/([\w/-]+\.md)/g, (text, page) =>
    existsSync(join(root, "docs", page))
      ? `[${page}](${relative(folder, join(root, "docs", page)).replaceAll("\\", "/")})`
      : text,
  );
}

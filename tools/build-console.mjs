// Builds the page of the console: one HTML file without anything outside of it, `node tools/build-console.mjs [file]`.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { bundledPackages } from "./bundled-packages.mjs";
import { noticesOf } from "./notices.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const page = join(root, "packages/cli/lib/console/page");

/**
 * @param {string} file the path at which the sources look for it, unless given
 * @returns the packages that the page contains
 */
export async function buildConsole(file = join(root, "packages/cli/lib/console.html")) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [join(page, "main.tsx"), join(page, "style.css")],
    outdir: page,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    charset: "utf8",
    logLevel: "warning",
  });
  const textOf = (ending) => outputFiles.find(({ path }) => path.endsWith(ending)).text.trim();
  const packages = bundledPackages(metafile);
  const parts = {
    notices: noticesOf(packages, "script of this page contains").replace(/-{2,}/g, ({ length }) =>
      "=".repeat(length),
    ),
    // Nothing in a script may end it.
    script: textOf(".js").replaceAll("</", "<\\/"),
    style: textOf(".css"),
  };
  const template = await readFile(join(page, "index.html"), "utf8");
  const html = template.replace(
    /(?:\/\* )?\bpage (notices|script|style)\b(?: \*\/;?)?/g,
    (_, name) => parts[name],
  );
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, html);
  return packages;
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await buildConsole(process.argv[2] === undefined ? undefined : resolve(process.argv[2]));
}

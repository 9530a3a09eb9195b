// Bundles the functions of OutboxRelay, with clients of AWS of our own, into <dist>/functions/outbox: `node tools/prebuild.mjs [dist]`.
// The build calls it, and so do tests and syntheses of the sample, which use constructs from their sources.
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { bundledPackages } from "./bundled-packages.mjs";
import { noticesOf } from "./notices.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

/** In a tenth of the SDK's bytes, and without its time to load. */
const SENDERS = join(root, "lib/lean/senders.ts");

/**
 * @param {string} dist
 * @returns the packages that the functions carry
 */
export async function prebuildFunctions(dist = join(root, "dist")) {
  const outdir = join(dist, "functions");
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: { "outbox/index": "tools/prebuilt/outbox.ts" },
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    target: "node22",
    mainFields: ["module", "main"],
    alias: {
      "@aws-sdk/client-eventbridge": SENDERS,
      "@aws-sdk/client-scheduler": SENDERS,
      "@aws-sdk/client-sns": SENDERS,
      "@aws-sdk/client-sqs": SENDERS,
    },
    // A source map would make the hash of the asset depend on the folder of the build.
    sourcemap: false,
    logLevel: "warning",
  });
  await Promise.all(outputFiles.map(({ path, contents }) => replaceFile(path, contents)));
  const packages = bundledPackages(metafile);
  const notices = join(outdir, "THIRD-PARTY-NOTICES.txt");
  if (packages.length > 0) await replaceFile(notices, noticesOf(packages));
  else await rm(notices, { force: true });
  return packages;
}

/** Others may be reading the file, so a rename replaces it. */
async function replaceFile(path, contents) {
  await mkdir(dirname(path), { recursive: true });
  const draft = join(dirname(dirname(path)), `.${process.pid}-${Math.random().toString(36).slice(2)}`);
  await writeFile(draft, contents);
  await rename(draft, path);
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await prebuildFunctions(process.argv[2] === undefined ? undefined : resolve(process.argv[2]));
}

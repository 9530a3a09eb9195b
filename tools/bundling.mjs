// How the package's own code is bundled: small, with the names that stack traces show, and in lines of a bounded length.
/** @type {import("esbuild").BuildOptions} */
export const BUNDLING = {
  bundle: true,
  // A class in a chunk that entries share is one class: `instanceof` holds between them.
  splitting: true,
  chunkNames: "shared/[hash]",
  format: "esm",
  platform: "node",
  target: "node20.19",
  packages: "external",
  charset: "utf8",
  minify: true,
  keepNames: true,
  // Shorter lines would be easier to find, and cost the tarball 20 KB.
  lineLimit: 1_000,
  logLevel: "warning",
};

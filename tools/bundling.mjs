// How the package's own code is bundled: small, with the names that stack traces show, and in lines that can be found.
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
  lineLimit: 120,
  logLevel: "warning",
};

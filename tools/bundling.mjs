// How the package's own code is bundled: in readable lines, because Node prints the line of an uncaught error. Users' bundlers minify.
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
  logLevel: "warning",
};

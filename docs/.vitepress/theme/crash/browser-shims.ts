// Lets the library run in a browser: what it imports of Node is replaced by the parts that it uses there.
const SHIMS: Readonly<Record<string, string>> = {
  "node:async_hooks": "async-hooks",
  "node:crypto": "crypto",
  "node:util": "util",
  "node:zlib": "zlib",
};
const GLOBALS = "./shims/globals.ts";

/** A plugin of Vite. `folder` is the one of the shims. */
export function browserShims(folder: string) {
  return {
    name: "browser-shims",
    enforce: "pre" as const,
    resolveId(source: string, importer: string | undefined) {
      // package.json says that no module of the package has side effects, and this one has nothing else.
      if (source === GLOBALS) return { id: `${folder}/globals.ts`, moduleSideEffects: true };
      const shim = SHIMS[source];
      if (shim === undefined || !/\/lib\/[\w/-]+\.ts$/.test(importer ?? "")) return null;
      return `${folder}/${shim}.ts`;
    },
  };
}

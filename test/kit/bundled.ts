// The bundle of a function's source, as a Lambda function is deployed: minified, for Node, and what is in it.
import { type BuildOptions, build } from "esbuild";
import { root } from "./project.ts";

export function bundled(contents: string, external: readonly string[] = [], more: BuildOptions = {}) {
  return build({
    ...more,
    stdin: { contents, resolveDir: root, sourcefile: "handler.ts", loader: "ts" },
    absWorkingDir: root,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    target: "node22",
    mainFields: ["module", "main"],
    logLevel: "silent",
    external: [...external],
  });
}

// Bundles what a Lambda function imports, and attributes the bytes to packages.
import { gzipSync } from "node:zlib";
import { bundled } from "../../../../test/kit/bundled.ts";

export interface Bundle {
  readonly code: Uint8Array;
  /** Minified bytes of the package itself, with its sibling packages. */
  readonly ownBytes: number;
  /** Minified bytes of other packages. */
  readonly thirdPartyBytes: number;
  /** The bytes of the whole bundle, as it travels. */
  readonly gzipBytes: number;
  /** Names of the other packages. */
  readonly thirdParties: readonly string[];
}

/** The parts of the SDK that are CommonJS require modules of Node. */
const REQUIRE = 'import{createRequire}from"node:module";const require=createRequire(import.meta.url);';

/** Left out if a function has them anyway. */
const PEERS = ["@aws-sdk/*", "@smithy/*", "@middy/*"];

/** @param isOwn whether a source, by its path from the root of the repository, belongs to the package itself */
export async function bundle(
  entry: string,
  isOwn: (path: string) => boolean,
  external: readonly string[] = PEERS,
): Promise<Bundle> {
  const { outputFiles, metafile } = await bundled(entry, external, {
    ...(external.length === 0 && { banner: { js: REQUIRE } }),
    outfile: "bundle.mjs",
  });
  const code = outputFiles[0]!.contents;
  const [output] = Object.values(metafile.outputs);
  const inputs = Object.entries(output!.inputs);
  const foreign = inputs.filter(([path]) => path !== "handler.ts" && !isOwn(path));
  const thirdPartyBytes = foreign.reduce((sum, [, { bytesInOutput }]) => sum + bytesInOutput, 0);
  return {
    code,
    ownBytes: code.byteLength - thirdPartyBytes,
    thirdPartyBytes,
    gzipBytes: gzipSync(code, { level: 9 }).byteLength,
    thirdParties: [...new Set(foreign.map(([path]) => packageName(path)))].sort(),
  };
}

function packageName(path: string): string {
  return /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? path;
}

// The section of docs/benchmarks.md about the bundle. Pure.
import type { Bundle } from "../size/bundle.ts";
import { exactBytes } from "./format.ts";
import { markdownTable } from "./markdown.ts";
import { type Sided, sided } from "./sided.ts";

export function bundleSection(bundles: Sided<Bundle>): string {
  return `## Bundle

Exact bytes of the Middy middleware with the DynamoDB store, minified by esbuild as an ES module; the AWS SDK and Middy
are left outside.

${markdownTable([
  ["", "onceonly", "Powertools"],
  ["own code", ...sided(bundles, ({ ownBytes }) => exactBytes(ownBytes))],
  ["other packages", ...sided(bundles, otherPackages)],
  ["all of it, gzipped", ...sided(bundles, ({ gzipBytes }) => exactBytes(gzipBytes))],
])}
`;
}

function otherPackages({ thirdPartyBytes, thirdParties }: Bundle): string {
  return thirdPartyBytes === 0 ? "–" : `${exactBytes(thirdPartyBytes)} (${thirdParties.join(", ")})`;
}

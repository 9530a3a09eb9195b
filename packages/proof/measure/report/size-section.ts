// The section of docs/proof/benchmarks.md about bytes. Pure.
import type { Weight } from "../size/entries.ts";
import { kilobytes } from "./format.ts";
import { markdownTable } from "./markdown.ts";

export interface SizeFigures {
  /** The size of the imported code, without the SDK. */
  readonly imports: Readonly<Record<string, Weight>>;
  /** Bytes of whole functions, the SDK included. */
  readonly functions: Readonly<Record<string, number>>;
}

export function sizeSection({ imports, functions }: SizeFigures): string {
  const rows = Object.entries(imports).map(([name, { ownBytes, gzipBytes, ...others }]) => [
    name,
    kilobytes(ownBytes),
    otherPackages(others),
    kilobytes(gzipBytes),
  ]);
  return `## Bundle

Kilobytes (1,000 bytes), minified by esbuild as an ES module; a test compares them with the present code. What an import carries with
the DynamoDB store, without the AWS SDK and Middy:

${markdownTable([["", "own code", "other packages", "all of it, gzipped"], ...rows])}

A whole function behind an HTTP API, everything included:

${markdownTable([["", "minified"], ...Object.entries(functions).map(([name, bytes]) => [name, kilobytes(bytes)])])}
`;
}

function otherPackages({
  thirdPartyBytes,
  thirdParties,
}: Pick<Weight, "thirdPartyBytes" | "thirdParties">): string {
  return thirdPartyBytes === 0 ? "–" : `${kilobytes(thirdPartyBytes)} (${thirdParties.join(", ")})`;
}

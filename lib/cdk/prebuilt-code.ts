// Finds the functions that this package's build bundled, so the app doesn't need a bundler.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type AssetCode, Code } from "aws-cdk-lib/aws-lambda";

/** In the package, the first folder is relative to dist/cjs/cdk. In the sources, the second is relative to lib/cdk. */
const FOLDERS = ["../../functions/outbox", "../../dist/functions/outbox"];

/** The code of the functions with the handlers `index.relay` and `index.sweeper`. */
export function prebuiltCode(): AssetCode {
  const candidates = FOLDERS.map((folder) => join(import.meta.dirname, folder));
  const folder = candidates.find((candidate) => existsSync(join(candidate, "index.mjs")));
  if (folder === undefined) {
    throw new Error(
      `the prebuilt functions aren't in any of ${candidates.join(", ")}: reinstall onceonly, or run "npm run build" in its source tree`,
    );
  }
  return Code.fromAsset(folder);
}

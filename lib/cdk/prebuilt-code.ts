// Finds the functions that the build of this package bundled, so that no bundler runs in the app.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type AssetCode, Code } from "aws-cdk-lib/aws-lambda";

/** The package has the first folder beside dist/cjs/cdk; its sources have the second beside lib/cdk. */
const FOLDERS = ["../../functions/outbox", "../../dist/functions/outbox"];

/** The code of the functions with the handlers `index.relay` and `index.sweeper`. */
export function prebuiltCode(): AssetCode {
  const candidates = FOLDERS.map((folder) => join(import.meta.dirname, folder));
  const folder = candidates.find((candidate) => existsSync(join(candidate, "index.mjs")));
  if (folder === undefined) {
    throw new Error(
      `the prebuilt functions are in none of ${candidates.join(", ")}: install onceonly again, or run "npm run build" in its sources`,
    );
  }
  return Code.fromAsset(folder);
}

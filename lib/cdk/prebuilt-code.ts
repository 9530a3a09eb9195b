// Finds the functions that came with the package, bundled when it was built: nothing of the app's is searched, and no
// bundler runs there. It may touch the file system, aws-cdk-lib and constructs only.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type AssetCode, Code } from "aws-cdk-lib/aws-lambda";

/** From dist/cjs/cdk in the package, and from lib/cdk in its sources. */
const FOLDERS = ["../../functions", "../../dist/functions"];

/** The code of a function whose handler is `index.handler`. */
export function prebuiltCode(name: "relay" | "sweeper"): AssetCode {
  const candidates = FOLDERS.map((folder) => join(folderOfThisFile(), folder, name));
  const folder = candidates.find((candidate) => existsSync(join(candidate, "index.mjs")));
  if (folder === undefined) {
    throw new Error(
      `the prebuilt ${name} is in none of ${candidates.join(", ")}: install onceonly again, or run "npm run build" in its sources`,
    );
  }
  return Code.fromAsset(folder);
}

/**
 * The package is CommonJS. Its sources run as ES modules, which learn this from `import.meta` only; that in turn is an
 * error in CommonJS, but the first file of a stack is this one.
 */
function folderOfThisFile(): string {
  if (typeof __dirname === "string") return __dirname;
  const [, place = ""] =
    /\(?((?:file:\/\/|\/|[A-Z]:\\)[^()\n]+\.ts):\d+:\d+/.exec(`${new Error().stack}`) ?? [];
  return dirname(place.startsWith("file:") ? fileURLToPath(place) : place);
}

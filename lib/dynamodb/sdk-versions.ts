/** Finds which versions of the SDK's DynamoDB client this process has loaded. For error messages only. */
import { dirname, join } from "node:path";

const MODULE = /[\\/]client-dynamodb[^\\/]*[\\/]dist-cjs[\\/]index\.js$/;

/** Such as "3.922.0 and 3.1162.0 are loaded". Versions are unknown in a bundle. */
export function loadedSdkVersions(): string {
  const require = process.getBuiltinModule("node:module").createRequire(join(process.cwd(), "x.js"));
  const versions = Object.keys(require.cache)
    .filter((file) => MODULE.test(file))
    .map((file) => (require(join(dirname(file), "..", "package.json")) as { version: string }).version);
  return versions.length > 0
    ? `${[...new Set(versions)].sort().join(" and ")} are loaded`
    : "two copies are bundled";
}

// aws-cdk-lib and constructs are peer dependencies that handlers don't need. If they're missing, this file reports what to
// install before Node reports a missing module, because index.ts imports it first.
const PEERS = ["aws-cdk-lib", "constructs"];

/** The same as in `peerDependencies` of package.json. */
export const OLDEST_CDK = "2.257.0";

// The built package is CommonJS. Its sources run as ES modules, which have no `require`.
if (typeof require === "function") {
  const missing = PEERS.filter((name) => !isInstalled(name));
  if (missing.length > 0) {
    throw new Error(
      `onceonly/cdk needs ${missing.join(" and ")}, which ${missing.length === 1 ? "isn't" : "aren't"} installed: run npm install ${missing.join(" ")}`,
    );
  }
  const reason = tooOld(require("aws-cdk-lib/package.json").version);
  if (reason !== undefined) throw new Error(reason);
}

/** npm rejects such a version because of `peerDependencies`, unless it runs with `--force`. */
export function tooOld(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_CDK.split(".").map(Number);
  // CDK's own repository builds version 0.0.0.
  if (major === 0 || major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined;
  return `onceonly/cdk needs aws-cdk-lib ${OLDEST_CDK} or later, but ${version} is installed: run npm install aws-cdk-lib@latest`;
}

function isInstalled(name: string): boolean {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
}

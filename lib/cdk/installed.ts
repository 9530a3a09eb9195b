// aws-cdk-lib and constructs are peers that handlers do not need. In a stack without them this file says
// what to install, before Node reports a missing file: index.ts imports this file first.
const PEERS = ["aws-cdk-lib", "constructs"];

/** As `peerDependencies` of package.json says. */
export const OLDEST_CDK = "2.257.0";

// The package is CommonJS. In its sources, which run as ES modules, there is no `require`.
if (typeof require === "function") {
  const missing = PEERS.filter((name) => !isInstalled(name));
  if (missing.length > 0) {
    throw new Error(
      `onceonly/cdk needs ${missing.join(" and ")}, which are not installed: npm install ${missing.join(" ")}`,
    );
  }
  const reason = tooOld(require("aws-cdk-lib/package.json").version);
  if (reason !== undefined) throw new Error(reason);
}

/** npm refuses such a version by `peerDependencies`, unless it is told to force it. */
export function tooOld(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_CDK.split(".").map(Number);
  // CDK's own repository builds 0.0.0.
  if (major === 0 || major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined;
  return `onceonly/cdk needs aws-cdk-lib ${OLDEST_CDK} or later, and ${version} is installed, which lacks what the constructs are made of: npm install aws-cdk-lib@latest`;
}

function isInstalled(name: string): boolean {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
}

// aws-cdk-lib and constructs are peers that handlers do not need. In a stack without them this file says
// what to install, before Node reports a missing file: index.ts imports this file first.
const PEERS = ["aws-cdk-lib", "constructs"];

// The package is CommonJS. In its sources, which run as ES modules, there is no `require`.
if (typeof require === "function") {
  const missing = PEERS.filter((name) => !isInstalled(name));
  if (missing.length > 0) {
    throw new Error(
      `onceonly/cdk needs ${missing.join(" and ")}, which are not installed: npm install ${missing.join(" ")}`,
    );
  }
}

function isInstalled(name: string): boolean {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
}

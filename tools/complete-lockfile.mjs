// Names in package-lock.json the packages for other platforms that a partial registry mirror left out. npm install
// skips them silently, and npm ci then rejects the lockfile. Run it after npm install; it changes nothing if
// nothing is missing. The entries it adds have no integrity, because the package was never downloaded here. Run it with
// --integrity if the registry has all packages, and the entries get theirs.
//
// It also drops `engines` from the packages in RUN_ON_NODE_20, so npm ci doesn't warn about them.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * Development dependencies that declare Node 22, although our tests run them on Node 20. The first two are tried by
 * test/durable, the last by every test of packages/local.
 */
const RUN_ON_NODE_20 = [
  "@aws/durable-execution-sdk-js",
  "@aws/durable-execution-sdk-js-testing",
  "aws-lambda-ric",
];

const SYSTEMS = "aix android darwin freebsd linux netbsd openbsd openharmony sunos win32".split(" ");
const PROCESSORS = "arm64 arm ia32 loong64 mips64el ppc64 riscv64 s390x wasm32 x64".split(" ");

const path = fileURLToPath(new URL("../package-lock.json", import.meta.url));
const lockfile = JSON.parse(readFileSync(path, "utf8"));
const added = {};

for (const [location, { dev, optionalDependencies = {} }] of Object.entries(lockfile.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    if (isLocked(location, name)) continue;
    added[`node_modules/${name}`] = {
      version: exact(name, version),
      ...platformOf(name),
      dev,
      optional: true,
    };
  }
}

for (const name of RUN_ON_NODE_20) delete lockfile.packages[`node_modules/${name}`]?.engines;

const packages = Object.entries({ ...lockfile.packages, ...added });
lockfile.packages = Object.fromEntries(packages.sort(([left], [right]) => left.localeCompare(right, "en")));
const unhashed = Object.entries(lockfile.packages).filter(
  ([location, { integrity, link, inBundle }]) =>
    location.includes("node_modules/") && !integrity && !link && !inBundle,
);
const found = process.argv.includes("--integrity") ? unhashed.filter(addIntegrity) : [];
writeFileSync(path, `${JSON.stringify(lockfile, null, 2)}\n`);
console.log(
  `${Object.keys(added).length} packages added, ${unhashed.length - found.length} of ${packages.length} without integrity`,
);

/** Whether the registry has it. */
function addIntegrity([location, entry]) {
  const name = entry.name ?? location.replace(/^.*node_modules\//, "");
  const { stdout } = spawnSync("npm", ["view", `${name}@${entry.version}`, "dist.integrity"], {
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  const integrity = /^sha512-[\w+/]+=*$/.exec(stdout.trim())?.[0];
  if (integrity === undefined) return false;
  const { version, ...rest } = entry;
  lockfile.packages[location] = { version, integrity, ...rest };
  return true;
}

/** Whether Node finds `name` from `location`: in a node_modules there or in a folder above. */
function isLocked(location, name) {
  const folders = location === "" ? [] : location.split("/");
  for (let depth = folders.length; depth >= 0; depth--) {
    if ([...folders.slice(0, depth), "node_modules", name].join("/") in lockfile.packages) return true;
  }
  return false;
}

function exact(name, version) {
  if (/^\d+\.\d+\.\d+$/.test(version)) return version;
  throw new Error(`${name} is wanted as ${version}: only an exact version can be locked unseen`);
}

/** By the convention of names such as `binding-linux-arm-musleabihf` and `cli-darwin-arm64`. */
function platformOf(name) {
  const parts = name.split(/[/-]/);
  const os = SYSTEMS.find((system) => parts.includes(system));
  const cpu = PROCESSORS.find((processor) => parts.includes(processor));
  if (cpu === undefined || (os === undefined && cpu !== "wasm32")) {
    throw new Error(`cannot tell the platform of ${name} from its name`);
  }
  const libc = /musl/.test(name) ? "musl" : "glibc";
  return { ...(os && { os: [os] }), cpu: [cpu], ...(os === "linux" && { libc: [libc] }) };
}

// Finds the packages that a run needs. None is a dependency of onceonly: functions that only import onceonly need none.
import { createRequire } from "node:module";
import { join } from "node:path";

/** The packages that every run needs, each with its purpose. */
const NEEDED = {
  "aws-lambda-ric": "runs the functions",
  "@aws-sdk/client-dynamodb": "creates the tables",
} as const;

/** Older versions don't start a process by themselves. On Node 20, npm chooses such a version unless the major is given. */
const RUNTIME_CLIENT = { name: "aws-lambda-ric", major: "4" } as const;

/** The path of a module of a package, as the folder sees it or, after that, as onceonly does. */
export function resolveInstalled(specifier: string, folder = process.cwd()): string | undefined {
  for (const from of [join(folder, "package.json"), import.meta.url]) {
    try {
      return createRequire(from).resolve(specifier);
    } catch {
      // It is not installed there.
    }
  }
  return undefined;
}

/** @throws Error if the package is not installed */
export function requireInstalled<Exports>(name: string): Exports {
  return createRequire(import.meta.url)(pathOf(name));
}

/** The path of a package's main file. @throws Error if the package is not installed */
export function pathOf(name: string): string {
  const path = resolveInstalled(name);
  if (path === undefined) throw new Error(`${name} isn't installed: run npm install --save-dev ${name}`);
  return path;
}

/** @throws Error that names each missing package, its purpose, and the command that installs all of them */
export function checkInstalled(folder = process.cwd()): void {
  const { name: client, major } = RUNTIME_CLIENT;
  const former = formerVersion(folder);
  const missing = Object.entries(NEEDED).filter(
    ([name]) => resolveInstalled(name, folder) === undefined || (name === client && former !== undefined),
  );
  if (missing.length === 0) return;
  const names = missing.map(([name]) => (name === client ? `${name}@${major}` : name)).join(" ");
  const instead = former === undefined ? "" : ` (found ${former}, but version ${major} is needed)`;
  throw new Error(
    [
      `these packages aren't installed in ${folder}:`,
      ...missing.map(([name, purpose]) => `  - ${name} ${purpose}${name === client ? instead : ""}`),
      "install them (their install scripts aren't needed):",
      `  npm install --save-dev --ignore-scripts ${names}`,
    ].join("\n"),
  );
}

/** The version of a runtime client, if it differs from the one that runs here; otherwise, and without one, `undefined`. */
function formerVersion(folder: string): string | undefined {
  const { name, major } = RUNTIME_CLIENT;
  const path = resolveInstalled(`${name}/package.json`, folder);
  const version: string | undefined = path && createRequire(path)(path).version;
  return version?.startsWith(`${major}.`) ? undefined : version;
}

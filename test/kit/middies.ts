// The supported versions of Middy. Every test of the middleware runs on both.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import middy6 from "@middy/core";
import { describe } from "vitest";
import { root } from "./project.ts";

/** `npm run test:middy7` installs it, because it needs a newer Node than the repository does. */
const installed = join(root, "tools/middy-7/node_modules/@middy");
const canRun7 = Number(process.versions.node.split(".")[0]) >= 22 && existsSync(installed);

/** A module of a package of Middy 7. */
export async function loadFromMiddy7(path: string): Promise<Readonly<Record<string, unknown>>> {
  return import(pathToFileURL(join(installed, path)).href);
}

/** The default export of a package such as `http-cors`. */
export async function loadMiddy<Export>(name: string, major: 6 | 7): Promise<Export> {
  const specifier = major === 6 ? `@middy/${name}` : pathToFileURL(join(installed, name, "index.js")).href;
  return ((await import(specifier)) as { default: Export }).default;
}

const middy7 = canRun7 ? await loadMiddy<typeof middy6>("core", 7) : middy6;

export function describeOnMiddies(name: string, tests: (middy: typeof middy6, major: 6 | 7) => void): void {
  describe(`${name} on Middy 6`, () => tests(middy6, 6));
  describe.skipIf(!canRun7)(`${name} on Middy 7 (npm run test:middy7)`, () => tests(middy7, 7));
}

// The project's folder, and its manifest.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface Manifest {
  readonly version: string;
  readonly homepage: unknown;
  readonly bugs: unknown;
  readonly repository: unknown;
  readonly publishConfig: unknown;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** The folder of package.json. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

export const manifest: Manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** The documents in Markdown, relative to the root, without those that `npm run site` generates. */
export const documents = [
  "README.md",
  "CONTRIBUTING.md",
  ...readdirSync(join(root, "docs"), { recursive: true })
    .map((file) => `docs/${String(file).replaceAll("\\", "/")}`)
    .filter((file) => file.endsWith(".md") && !file.startsWith("docs/api/"))
    .sort(),
];

// Who takes part, and in which versions.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Contestant } from "./contestant.ts";
import { expressIdempotency } from "./express-idempotency.ts";
import { nestIdempotency, nodeIdempotency } from "./node-idempotency.ts";
import { onceonly } from "./onceonly.ts";
import { powertools } from "./powertools.ts";

export const CONTESTANTS: readonly Contestant[] = [
  ...onceonly,
  ...powertools,
  ...nodeIdempotency,
  ...nestIdempotency,
  ...expressIdempotency,
];

const root = new URL("../../../../", import.meta.url);
export const folderOf = (path: string) => fileURLToPath(new URL(path, root));
const manifest = (path: string) => JSON.parse(readFileSync(folderOf(path), "utf8"));

const PEERS: Readonly<Record<string, string>> = manifest("tools/peers/package.json").dependencies;

/** The folder whose installed packages a contestant uses. */
export const homeOf = ({ packages }: Contestant) =>
  folderOf(packages.some((name) => name in PEERS) ? "tools/peers" : ".");

export function pinnedVersions(): Readonly<Record<string, string>> {
  const { version, devDependencies } = manifest("package.json");
  const versions: Readonly<Record<string, string>> = { ...devDependencies, ...PEERS, onceonly: version };
  const names = new Set(CONTESTANTS.flatMap(({ packages }) => packages));
  return Object.fromEntries([...names].map((name) => [name, versions[name]!]));
}

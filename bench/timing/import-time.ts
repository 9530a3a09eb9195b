// How long the import of a bundle takes on top of the AWS SDK's own import: fresh processes, the least of several.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

export const IMPORT_ROUNDS = 9;

/** Inside node_modules, so that the bundle finds the SDK that it leaves outside. */
const folder = fileURLToPath(new URL("../../node_modules/.cache/onceonly-bench/", import.meta.url));

const MEASURE = `
await import("@aws-sdk/client-dynamodb");
await import("@aws-sdk/util-dynamodb");
const before = performance.now();
await import(process.argv[1]);
console.log(performance.now() - before);
`;

/**
 * In ms, by the name of the bundle. The bundles take turns, so that a slow moment of the machine meets all of them.
 * @param onRound called IMPORT_ROUNDS times
 */
export function importTimes<Name extends string>(
  bundles: Readonly<Record<Name, Uint8Array>>,
  onRound: () => void,
): Record<Name, number> {
  mkdirSync(folder, { recursive: true });
  const least = {} as Record<Name, number>;
  try {
    for (const [name, code] of Object.entries<Uint8Array>(bundles))
      writeFileSync(`${folder}${name}.mjs`, code);
    for (let round = 0; round < IMPORT_ROUNDS; round++) {
      for (const name of Object.keys(bundles) as Name[]) {
        const ms = measureOnce(pathToFileURL(`${folder}${name}.mjs`).href);
        least[name] = Math.min(least[name] ?? Number.POSITIVE_INFINITY, ms);
      }
      onRound();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return least;
}

function measureOnce(url: string): number {
  const args = ["--input-type=module", "--eval", MEASURE, url];
  return Number(execFileSync(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "ignore"] }));
}

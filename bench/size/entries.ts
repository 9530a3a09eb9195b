// What is bundled on each side: the face and the store that a function behind an HTTP API imports.
import { type Bundle, bundle } from "./bundle.ts";

export function onceonlyBundle(): Promise<Bundle> {
  return bundle('export { DynamoDBStore, httpIdempotency } from "onceonly";', (path) =>
    path.startsWith("lib/"),
  );
}

export function powertoolsBundle(): Promise<Bundle> {
  const entry = [
    'export { IdempotencyConfig } from "@aws-lambda-powertools/idempotency";',
    'export { DynamoDBPersistenceLayer } from "@aws-lambda-powertools/idempotency/dynamodb";',
    'export { makeHandlerIdempotent } from "@aws-lambda-powertools/idempotency/middleware";',
  ];
  return bundle(entry.join("\n"), (path) => path.startsWith("node_modules/@aws-lambda-powertools/"));
}

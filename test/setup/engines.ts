// Starts every DynamoDB engine that can be run here once per test run. Tests get the quickest by `inject("dynamodbEngines")`,
// and each by `inject("everyDynamodbEngine")`. AWS_ENDPOINT_URL_DYNAMODB replaces them all by that one endpoint.
import type { TestProject } from "vitest/node";
import { availableDynamoDBEngines, startDynamoDB } from "../../packages/local/lib/dynamodb-engine.ts";
import { inTier } from "./tier.ts";

export interface ProvidedEngine {
  readonly name: string;
  readonly endpoint: string;
}

declare module "vitest" {
  export interface ProvidedContext {
    /** The quickest engine; all of them in `npm run verify:full`. */
    dynamodbEngines: ProvidedEngine[];
    /** In each run, for tests of what engines may answer differently. */
    everyDynamodbEngine: ProvidedEngine[];
  }
}

export default async function setupEngines(project: TestProject): Promise<() => Promise<void>> {
  const endpoint = process.env.AWS_ENDPOINT_URL_DYNAMODB;
  const names = endpoint ? [undefined] : await availableDynamoDBEngines();
  // Without any engine the one start that is tried fails with an error that says how to get one.
  const engines = await Promise.all(
    (names.length > 0 ? names : [undefined]).map((engine) => startDynamoDB({ engine, endpoint })),
  );
  const provided = engines.map(({ engine, endpoint }) => ({ name: engine, endpoint }));
  project.provide("dynamodbEngines", inTier(provided.slice(-1), provided));
  project.provide("everyDynamodbEngine", provided);
  return async () => {
    await Promise.all(engines.map((engine) => engine.stop()));
  };
}

// A whole function for an HTTP API, as it is deployed with each package: with everything it needs, or with everything but the SDK.
import { bundle } from "./bundle.ts";

const handler = 'async () => ({ statusCode: 201, body: \'{"order":"1"}\' })';

const ONCEONLY = (from: string) => `
import { DynamoDBStore } from "${from}";
import { httpIdempotent } from "onceonly";
const store = new DynamoDBStore({ tableName: process.env.TABLE });
export const handler = httpIdempotent(${handler}, { operation: "create-order", scope: "public", store });`;

const POWERTOOLS = `
import { IdempotencyConfig, makeIdempotent } from "@aws-lambda-powertools/idempotency";
import { DynamoDBPersistenceLayer } from "@aws-lambda-powertools/idempotency/dynamodb";
const persistenceStore = new DynamoDBPersistenceLayer({ tableName: process.env.TABLE });
const config = new IdempotencyConfig({
  throwOnNoIdempotencyKey: true,
  eventKeyJmesPath: 'headers."idempotency-key"',
  payloadValidationJmesPath: "body",
});
export const handler = makeIdempotent(${handler}, { persistenceStore, config, keyPrefix: "create-order" });`;

const BARE = `
import { floor } from "./packages/proof/measure/contestants/sdk-floor.ts";
const callOnce = floor(process.env.TABLE);
export const handler = (event) => callOnce(event.headers["idempotency-key"], ${handler});`;

interface DeployedFunction {
  readonly entry: string;
  readonly partitionKey: "pk" | "id";
  readonly needsSdk: boolean;
}

export const FUNCTIONS: Readonly<Record<string, DeployedFunction>> = {
  onceonly: { entry: ONCEONLY("onceonly/dynamodb"), partitionKey: "pk", needsSdk: true },
  "onceonly/lean": { entry: ONCEONLY("onceonly/lean"), partitionKey: "pk", needsSdk: false },
  "the SDK and two commands": { entry: BARE, partitionKey: "pk", needsSdk: true },
  Powertools: { entry: POWERTOOLS, partitionKey: "id", needsSdk: true },
};

export async function bundleFunction({ entry }: DeployedFunction, withSdk: boolean): Promise<Uint8Array> {
  return (await bundle(entry, () => true, withSdk ? [] : undefined)).code;
}

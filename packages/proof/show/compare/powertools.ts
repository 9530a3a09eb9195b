// The peer in the comparison, set up as its documentation says: with its own table schema and the Lambda context. The key
// is required, and the payload is checked against the key.
import { IdempotencyConfig, makeIdempotent } from "@aws-lambda-powertools/idempotency";
import { DynamoDBPersistenceLayer } from "@aws-lambda-powertools/idempotency/dynamodb";
import { makeHandlerIdempotent } from "@aws-lambda-powertools/idempotency/middleware";
import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { POWERTOOLS_PARTITION_KEY } from "../../measure/contestants/world.ts";
import { assemble } from "./contestant.ts";
import type { AdapterName, Contestant, Deployment, KeyedBy, Lab } from "./lab.ts";

/** JMESPath of the key, and of what must not change under it. `powertools_json` is the documented way for JSON bodies. */
const PATHS: Readonly<Record<KeyedBy, { readonly key?: string; readonly payload?: string }>> = {
  id: { key: "id", payload: "item" },
  "whole event": {},
  header: { key: 'headers."idempotency-key"', payload: "powertools_json(body)" },
  "caller and header": {
    key: '[requestContext.authorizer.jwt.claims.sub, headers."idempotency-key"]',
    payload: "powertools_json(body)",
  },
};

export function powertools(adapter: AdapterName): Contestant {
  return {
    package: "Powertools",
    adapter,
    partitionKey: POWERTOOLS_PARTITION_KEY,
    deploy(lab, deployment) {
      const options = idempotencyOptions(lab, deployment);
      const wrap = (handler: unknown) => makeIdempotent(handler as () => Promise<unknown>, options) as never;
      return assemble(
        adapter,
        { wrap, middleware: () => makeHandlerIdempotent(options) as never },
        deployment,
      );
    },
    deployInner: (lab, work) =>
      makeIdempotent(async (_event: unknown) => work(), idempotencyOptions(lab, {})),
    storeOrder: ({ client, ordersTable: TableName }, _context, { order }) =>
      client.send(new PutItemCommand({ TableName, Item: { id: { S: String(order) } } })),
  };
}

function idempotencyOptions(
  { client, recordsTable: tableName }: Lab,
  { keyedBy = "id", operation = "create-order", keyMissing = "refused" }: Omit<Deployment, "handler">,
) {
  const { key, payload } = PATHS[keyedBy];
  return {
    persistenceStore: new DynamoDBPersistenceLayer({ tableName, awsSdkV3Client: client }),
    config: new IdempotencyConfig({
      ...(keyMissing === "refused" && { throwOnNoIdempotencyKey: true }),
      ...(key !== undefined && { eventKeyJmesPath: key }),
      ...(payload !== undefined && { payloadValidationJmesPath: payload }),
    }),
    keyPrefix: operation,
  };
}

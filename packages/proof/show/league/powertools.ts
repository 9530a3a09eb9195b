// Powertools knows no HTTP: its errors get the statuses of the draft, and the caller is part of the key.
import { IdempotencyConfig, makeIdempotent } from "@aws-lambda-powertools/idempotency";
import { CachePersistenceLayer } from "@aws-lambda-powertools/idempotency/cache";
import { DynamoDBPersistenceLayer } from "@aws-lambda-powertools/idempotency/dynamodb";
import { makeHandlerIdempotent } from "@aws-lambda-powertools/idempotency/middleware";
import middy from "@middy/core";
import type { Context } from "aws-lambda";
import { createClient } from "redis";
import { type Contestant, type Site, serveLambda, type World } from "./contestant.ts";

const PACKAGE = "@aws-lambda-powertools/idempotency";
const codeOf = (wrapper: string, path: string, store: string) =>
  `export { IdempotencyConfig } from "${PACKAGE}"; export { ${wrapper} } from "${PACKAGE}${path}"; export * from "${PACKAGE}/${store}"`;

const about = {
  library: "Powertools",
  packages: [PACKAGE],
  profile: "none",
} as const;

const STATUSES: Readonly<Record<string, number>> = {
  IdempotencyKeyError: 400,
  IdempotencyValidationError: 422,
  IdempotencyAlreadyInProgressError: 409,
};
const toProblem = (error: unknown) => ({ statusCode: STATUSES[(error as Error).name] ?? 500, body: "" });

interface Shop {
  readonly world: World;
  readonly store: () => DynamoDBPersistenceLayer | CachePersistenceLayer;
  readonly wrap: (handler: Handler, options: Options) => unknown;
  readonly looksAtBody?: boolean;
  readonly close?: () => unknown;
}
type Handler = (event: { body: string }, context: Context) => Promise<object>;
type Options = ReturnType<typeof optionsOf>;

/** An environment has its own configuration and store. A function's name is the prefix of its keys in Lambda. */
const optionsOf = ({ world, store, looksAtBody = true }: Shop, keyPrefix: string) => ({
  ...{ keyPrefix, persistenceStore: store() },
  config: new IdempotencyConfig({
    throwOnNoIdempotencyKey: true,
    eventKeyJmesPath: 'headers."idempotency-key" && [headers.authorization, headers."idempotency-key"]',
    ...(looksAtBody && { payloadValidationJmesPath: "body" }),
    ...(world.retentionSeconds && { expiresAfterSeconds: world.retentionSeconds }),
  }),
});

function shop(shop: Shop): Promise<Site> {
  const handler: Handler = async ({ body }) => ({
    statusCode: 201,
    headers: { location: "/orders/1" },
    body: JSON.stringify(await shop.world.makeOrder(JSON.parse(body))),
  });
  const functionOf = (name: string) => () => shop.wrap(handler, optionsOf(shop, name)) as never;
  return serveLambda(
    { "/orders": functionOf("create-order"), "/refunds": functionOf("create-refund") },
    toProblem,
    shop.close,
  );
}

const onTable =
  ({ tables, dynamodb }: World) =>
  () =>
    new DynamoDBPersistenceLayer({ tableName: tables.id, awsSdkV3Client: dynamodb });

async function onValkey(world: World, looksAtBody: boolean): Promise<Site> {
  const client = await createClient({ url: world.valkeyUrl }).connect();
  client.on("error", () => undefined);
  const store = () => new CachePersistenceLayer({ client: client as never });
  return shop({ world, store, looksAtBody, wrap: makeIdempotent as never, close: () => client.destroy() });
}

export const powertools: readonly Contestant[] = [
  {
    ...about,
    ...{ adapter: "wrapper", store: "DynamoDB" },
    code: codeOf("makeIdempotent", "", "dynamodb"),
    start: async (world) => shop({ world, store: onTable(world), wrap: makeIdempotent as never }),
  },
  {
    ...about,
    ...{ adapter: "Middy middleware", store: "DynamoDB" },
    code: codeOf("makeHandlerIdempotent", "/middleware", "dynamodb"),
    start: async (world) =>
      shop({
        ...{ world, store: onTable(world) },
        wrap: (handler, options) =>
          middy(handler as never).use(makeHandlerIdempotent(options) as middy.MiddlewareObj),
      }),
  },
  {
    ...about,
    ...{ adapter: "wrapper", store: "Valkey" },
    code: codeOf("makeIdempotent", "", "cache"),
    start: (world) => onValkey(world, true),
  },
  {
    ...about,
    ...{ adapter: "wrapper without payload validation", store: "Valkey" },
    code: codeOf("makeIdempotent", "", "cache"),
    start: (world) => onValkey(world, false),
  },
];

// Powertools knows no HTTP: its errors get the statuses that the draft demands, and the caller is part of the key.
import { IdempotencyConfig, makeIdempotent } from "@aws-lambda-powertools/idempotency";
import { CachePersistenceLayer } from "@aws-lambda-powertools/idempotency/cache";
import { DynamoDBPersistenceLayer } from "@aws-lambda-powertools/idempotency/dynamodb";
import { makeHandlerIdempotent } from "@aws-lambda-powertools/idempotency/middleware";
import middy from "@middy/core";
import { createClient } from "redis";
import { type Contestant, serveLambda, type World } from "./contestant.ts";

const PACKAGE = "@aws-lambda-powertools/idempotency";
const codeOf = (wrapper: string, path: string, store: string) =>
  `export { IdempotencyConfig } from "${PACKAGE}"; export { ${wrapper} } from "${PACKAGE}${path}"; export * from "${PACKAGE}/${store}"`;

const about = {
  library: "Powertools",
  packages: [PACKAGE],
  profile: "ietf-07",
} as const;

const STATUSES: Readonly<Record<string, number>> = {
  IdempotencyKeyError: 400,
  IdempotencyValidationError: 422,
  IdempotencyAlreadyInProgressError: 409,
};
const toProblem = (error: unknown) => ({ statusCode: STATUSES[(error as Error).name] ?? 500, body: "" });

/** With a fresh configuration, because it remembers the context. */
const options = (persistenceStore: DynamoDBPersistenceLayer | CachePersistenceLayer) => ({
  persistenceStore,
  config: new IdempotencyConfig({
    throwOnNoIdempotencyKey: true,
    eventKeyJmesPath: '[headers.authorization, headers."idempotency-key"]',
    payloadValidationJmesPath: "body",
  }),
});

const handlerOf =
  ({ makeOrder }: World) =>
  async ({ body }: { body: string }) => ({
    statusCode: 201,
    headers: { location: "/orders/1" },
    body: JSON.stringify(await makeOrder(JSON.parse(body))),
  });

const onTable = async ({ createTable, dynamodb }: World) =>
  options(new DynamoDBPersistenceLayer({ tableName: await createTable("id"), awsSdkV3Client: dynamodb }));

export const powertools: readonly Contestant[] = [
  {
    ...about,
    ...{ adapter: "wrapper", store: "DynamoDB" },
    code: codeOf("makeIdempotent", "", "dynamodb"),
    async start(world) {
      return serveLambda(makeIdempotent(handlerOf(world), await onTable(world)) as never, toProblem);
    },
  },
  {
    ...about,
    ...{ adapter: "Middy middleware", store: "DynamoDB" },
    code: codeOf("makeHandlerIdempotent", "/middleware", "dynamodb"),
    async start(world) {
      const once = makeHandlerIdempotent(await onTable(world)) as middy.MiddlewareObj;
      return serveLambda(middy(handlerOf(world)).use(once) as never, toProblem);
    },
  },
  {
    ...about,
    ...{ adapter: "wrapper", store: "Valkey" },
    code: codeOf("makeIdempotent", "", "cache"),
    async start(world) {
      const client = await createClient({ url: world.valkeyUrl }).connect();
      const once = options(new CachePersistenceLayer({ client: client as never }));
      return serveLambda(makeIdempotent(handlerOf(world), once) as never, toProblem, () => client.destroy());
    },
  },
];

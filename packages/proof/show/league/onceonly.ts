// Ourselves, in a server and in a function, on two stores.
import express from "express";
import { httpIdempotent } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { expressIdempotency, keepBody } from "onceonly/http";
import { fromNodeRedis, ValkeyStore } from "onceonly/valkey";
import { createClient } from "redis";
import { type Contestant, serve, serveLambda } from "./contestant.ts";

const about = { library: "onceonly", packages: ["onceonly"], profile: "ietf-07" } as const;
const operation = "create-order";

/** Whose token it is: the league's two callers. */
const callerOf = ({ headers }: { readonly headers: { readonly authorization?: string } }) =>
  ({ ana: "ana", ben: "ben" })[`${headers.authorization}`];

export const onceonly: readonly Contestant[] = [
  {
    ...about,
    ...{ adapter: "Lambda function", store: "DynamoDB" },
    code: 'export { httpIdempotent } from "onceonly"; export { DynamoDBStore } from "onceonly/dynamodb"',
    async start({ dynamodb: client, createTable, makeOrder }) {
      const store = new DynamoDBStore({ tableName: await createTable("pk"), client });
      const options = { operation, store, scope: callerOf };
      const handler = httpIdempotent(
        async ({ body }: { body: string }) => ({
          statusCode: 201,
          headers: { location: "/orders/1", "set-cookie": "session=1" },
          body: JSON.stringify(await makeOrder(JSON.parse(body))),
        }),
        options as never,
      );
      return serveLambda(handler as never, () => ({ statusCode: 500, body: "" }));
    },
  },
  {
    ...about,
    ...{ adapter: "Express", store: "Valkey" },
    code: 'export { expressIdempotency } from "onceonly/http"; export { fromNodeRedis, ValkeyStore } from "onceonly/valkey"',
    async start({ valkeyUrl, makeOrder }) {
      const client = await createClient({ url: valkeyUrl }).connect();
      const store = new ValkeyStore({ client: fromNodeRedis(client as never) } as never);
      const app = express().use(express.json({ verify: keepBody }));
      const once = expressIdempotency({
        ...{ operation, store },
        scope: callerOf,
      } as never);
      app.post("/orders", once as never, async (request, response) => {
        response.cookie("session", "1").location("/orders/1");
        response.status(201).json(await makeOrder(request.body));
      });
      app.use(((_error, _request, response, _next) => {
        response.status(500).json({});
      }) as express.ErrorRequestHandler);
      return serve(app, () => client.destroy());
    },
  },
];

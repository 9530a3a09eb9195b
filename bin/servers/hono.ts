// Orders on Hono, one per idempotency key: PORT=3000 IDEMPOTENCY_TABLE=… ORDERS_TABLE=… TOKENS='{"<token>":"<tenant>"}'
import { randomUUID } from "node:crypto";
import { serve } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { bearerAuth } from "hono/bearer-auth";
import { DynamoDBStore } from "onceonly/dynamodb";
import { honoIdempotency } from "onceonly/http";

const { PORT = "3000", IDEMPOTENCY_TABLE, ORDERS_TABLE, TOKENS = "{}" } = process.env;
const tenants = new Map(Object.entries<string>(JSON.parse(TOKENS)));

type Tenants = { Variables: { tenant: string } };

const store = new DynamoDBStore({ tableName: IDEMPOTENCY_TABLE });
const app = new Hono<Tenants>();

// Authentication comes first: a revoked caller gets no replay.
app.use(
  bearerAuth({
    verifyToken: (token, c: Context<Tenants>) => {
      const tenant = tenants.get(token);
      if (tenant) c.set("tenant", tenant);
      return tenant !== undefined;
    },
  }),
);

const once = honoIdempotency({
  operation: "create-order",
  store,
  scope: (c: Context<Tenants>) => c.get("tenant"),
});

app.post("/orders", once, async (c) => {
  const order = { ...(await c.req.json()), tenant: c.get("tenant"), id: randomUUID() };
  const answer = {
    statusCode: 201,
    headers: { location: `/orders/${order.id}` },
    body: JSON.stringify(order),
  };
  // Order and answer are one transaction: no crash leaves one without the other.
  await once.executionOf(c).commit(answer, {
    writes: [{ Put: { TableName: ORDERS_TABLE, Item: order } }],
  });
  return c.json(order, 201);
});

const server = serve({ fetch: app.fetch, port: Number(PORT) }, ({ port }) =>
  console.log(`listening on ${port}`),
);

// Running requests finish first: one that is cut off stays in progress until its lease ends.
process.once("SIGTERM", () => server.close());

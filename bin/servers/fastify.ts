// Orders on Fastify, one per idempotency key: PORT=3000 IDEMPOTENCY_TABLE=… ORDERS_TABLE=… TOKENS='{"<token>":"<tenant>"}'
import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import fastify, { type FastifyRequest } from "fastify";
import { DynamoDBStore } from "onceonly/dynamodb";
import { fastifyIdempotency } from "onceonly/http";

const { PORT = "3000", IDEMPOTENCY_TABLE, ORDERS_TABLE, TOKENS = "{}" } = process.env;
const tenants = new Map(Object.entries<string>(JSON.parse(TOKENS)));
const tenantOf = ({ headers }: FastifyRequest) =>
  tenants.get(headers.authorization?.replace(/^Bearer +/i, "") ?? "");

const store = new DynamoDBStore({ tableName: IDEMPOTENCY_TABLE });
// An idle connection would keep a process that ends for 72 seconds.
const app = fastify({ keepAliveTimeout: 5000 });

// Authentication comes first: a revoked caller gets no replay.
app.addHook("onRequest", async (request, reply) => {
  if (tenantOf(request) === undefined) await reply.code(401).send();
});

const once = fastifyIdempotency({ operation: "create-order", store, scope: tenantOf });

app.post("/orders", { ...once }, async (request, reply) => {
  const order = { ...(request.body as object), tenant: tenantOf(request), id: randomUUID() };
  const answer = {
    statusCode: 201,
    headers: { location: `/orders/${order.id}` },
    body: JSON.stringify(order),
  };
  // Order and answer are one transaction: no crash leaves one without the other.
  await once.executionOf(request).commit(answer, {
    writes: [{ Put: { TableName: ORDERS_TABLE, Item: order } }],
  });
  return reply.code(201).send(order);
});

await app.listen({ port: Number(PORT), host: "0.0.0.0" });
console.log(`listening on ${(app.server.address() as AddressInfo).port}`);

// Running requests finish first: one that is cut off stays in progress until its lease ends.
process.once("SIGTERM", () => app.close());

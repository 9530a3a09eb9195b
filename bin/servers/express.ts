// Orders on Express, one per idempotency key: PORT=3000 IDEMPOTENCY_TABLE=… ORDERS_TABLE=… TOKENS='{"<token>":"<tenant>"}'
import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import express from "express";
import { DynamoDBStore } from "onceonly/dynamodb";
import { expressIdempotency, keepBody } from "onceonly/http";

const { PORT = "3000", IDEMPOTENCY_TABLE, ORDERS_TABLE, TOKENS = "{}" } = process.env;
const tenants = new Map(Object.entries<string>(JSON.parse(TOKENS)));

const store = new DynamoDBStore({ tableName: IDEMPOTENCY_TABLE });
const app = express();

// Authentication comes first: a revoked caller gets no replay.
app.use((req, res, next) => {
  res.locals.tenant = tenants.get(req.get("authorization")?.replace(/^Bearer +/i, "") ?? "");
  if (res.locals.tenant === undefined) res.status(401).end();
  else next();
});

// The fingerprint is made of the bytes that the parser has read.
app.use(express.json({ verify: keepBody }));

const once = expressIdempotency({
  operation: "create-order",
  store,
  scope: ({ res }) => res?.locals.tenant,
});

app.post("/orders", once, async (req, res) => {
  const order = { ...req.body, tenant: res.locals.tenant, id: randomUUID() };
  const answer = {
    statusCode: 201,
    headers: { location: `/orders/${order.id}` },
    body: JSON.stringify(order),
  };
  // Order and answer are one transaction: no crash leaves one without the other.
  await once.executionOf(req).commit(answer, {
    writes: [{ Put: { TableName: ORDERS_TABLE, Item: order } }],
  });
  res.status(201).json(order);
});

const server = app.listen(Number(PORT), () =>
  console.log(`listening on ${(server.address() as AddressInfo).port}`),
);

// Running requests finish first: one that is cut off stays in progress until its lease ends.
process.once("SIGTERM", () => server.close());

// POST /orders on Hono: the order's row and the answer are one PostgreSQL transaction.
import { serve } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { jwt } from "hono/jwt";
import { honoIdempotency } from "onceonly/http";
import { fromPg, PostgresStore } from "onceonly/postgres";
import pg from "pg";

const { PORT = "3000", DATABASE_URL, JWT_SECRET } = process.env;
if (!JWT_SECRET) throw new Error("JWT_SECRET is not set");

const pool = new pg.Pool({
  connectionString: DATABASE_URL,
  connectionTimeoutMillis: 2000,
  query_timeout: 5000,
});
// An idle connection that is lost would end the process.
pool.on("error", (error) => console.warn(error.message));

type Env = { Variables: { jwtPayload: { sub: string } } };
const app = new Hono<Env>();
// Authentication comes first, so `scope` reads a verified caller.
app.use(jwt({ secret: JWT_SECRET, alg: "HS256" }));

const once = honoIdempotency({
  operation: "create-order",
  store: new PostgresStore({ client: fromPg(pool), table: "idempotency" }),
  scope: (c: Context<Env>) => c.get("jwtPayload").sub,
});

const INSERT = "INSERT INTO orders (id, customer, sku, quantity) VALUES ($1, $2, $3, $4)";

app.post("/orders", once, async (c) => {
  const { sku, quantity } = await c.req.json();
  if (typeof sku !== "string" || !Number.isInteger(quantity))
    return c.json({ message: "what and how many?" }, 400);
  const { commit, scope } = once.executionOf(c);
  const order = { id: crypto.randomUUID(), customer: scope, sku, quantity };
  await commit(
    { statusCode: 201, headers: { "content-type": "application/json" }, body: JSON.stringify(order) },
    { writes: (client) => client.query(INSERT, [order.id, scope, sku, quantity]) },
  );
  return c.json(order, 201);
});

const server = serve({ fetch: app.fetch, port: Number(PORT) }, ({ port }) =>
  console.log(`listening on ${port}`),
);
// Requests in progress are finished first: a key that is cut off stays in progress until its lease ends.
process.once("SIGTERM", () => server.close(() => void pool.end()));

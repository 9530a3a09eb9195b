import { exactlyOnceMatchers, explore, Simulator } from "onceonly-explorer";
import { expect, it, vi } from "vitest";
import { itemsIn, post } from "./given.ts";

expect.extend(exactlyOnceMatchers);
vi.stubEnv("ORDERS_TABLE", "orders");
vi.stubEnv("IDEMPOTENCY_TABLE", "idempotency");
const { handler } = await import("../../examples/http-lambda/handler.ts");

const tea = { sku: "tea", quantity: 2 };

it("writes one order, whatever crashes, gets lost or comes twice", async () => {
  const report = await explore(handler, post("/orders", tea), {
    tables: { orders: { partitionKey: "id" } },
    idempotencyTable: "idempotency",
    expectedStatus: 201,
  });

  expect(report).toBeExactlyOnce();
  expect(report.points).toHaveLength(2);
  expect(report.runs).toBeGreaterThan(20);
});

it("answers a retry from the record, and keeps the keys of two callers apart", async () => {
  const aws = new Simulator();
  aws.table("orders", { partitionKey: "id" });
  aws.table("idempotency", { partitionKey: "pk" });
  const fn = aws.lambda(handler);
  const events = [
    post("/orders", tea),
    post("/orders", tea),
    post("/orders", tea, { caller: "bob" }),
    post("/orders", { ...tea, quantity: 3 }),
    post("/orders", { sku: "tea" }, { key: "key-2" }),
  ];

  const answers = await aws.run(async () => {
    const values: unknown[] = [];
    for (const event of events) values.push(await fn.invoke(event));
    return values;
  });

  expect(answers).toMatchObject([201, 201, 201, 422, 400].map((statusCode) => ({ value: { statusCode } })));
  const [first, retry, bobs] = answers.map((answer) => (answer as { value: { body: string } }).value);
  expect(retry).toMatchObject({ body: first?.body, headers: { "Idempotent-Replayed": "true" } });
  expect(JSON.parse(bobs?.body ?? "")).toMatchObject({ customer: "bob" });
  expect(await itemsIn(aws, "orders")).toHaveLength(2);
});

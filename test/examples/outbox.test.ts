import { expect, it, vi } from "vitest";
import { relayed } from "../kit/shop/relay-and-sweeper.ts";
import { itemsIn, post, underEachFault } from "./given.ts";

const queueUrl = "https://sqs.us-east-1.amazonaws.com/000000000000/payments.fifo";
vi.stubEnv("PAYMENTS_QUEUE_URL", queueUrl);
vi.stubEnv("ORDERS_TABLE", "orders");
vi.stubEnv("LEDGER_TABLE", "ledger");
vi.stubEnv("IDEMPOTENCY_TABLE", "idempotency");
const { handler } = await import("../../examples/outbox/handler.ts");
const { handler: consumer } = await import("../../examples/outbox/consumer.ts");

const number = (name: string) => ({ name, type: "N" }) as const;

it("writes one order and pays it once, whichever of handler, relay and consumer crashes or loses an answer", async () => {
  const requests = await underEachFault(async (aws) => {
    for (const name of ["orders", "ledger"]) aws.table(name, { partitionKey: "id" });
    aws.table("idempotency", {
      partitionKey: "pk",
      stream: "NEW_IMAGE",
      indexes: {
        outbox: {
          partitionKey: number("unsentShard"),
          sortKey: number("unsentSince"),
          projection: "KEYS_ONLY",
        },
      },
    });
    aws.queue("payments.fifo", { visibilitySeconds: 180 });
    relayed(aws);
    aws.connectQueue(aws.lambda(consumer), { queueUrl });
    const api = aws.lambda(handler);

    const answers = await aws.run(async () => {
      const returned: unknown[] = [];
      // The client asks until it gets an answer, and then once more.
      while (returned.length < 2) {
        const invocation = await api.invoke(post("/orders", { cents: 500 }));
        if (invocation.outcome === "returned") returned.push(invocation.value);
        await aws.clock.sleep(120_000);
      }
      await aws.untilIdle();
      return returned;
    });

    expect(answers).toMatchObject([{ statusCode: 201 }, { statusCode: 201 }]);
    expect(await itemsIn(aws, "orders")).toMatchObject([{ customer: "ann", cents: 500, state: "paid" }]);
    expect(await itemsIn(aws, "ledger")).toMatchObject([{ cents: 500 }]);
  });

  expect(requests).toBeGreaterThan(6);
});

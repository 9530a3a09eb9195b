import { expect, it, vi } from "vitest";
import { itemsIn, underEachFault } from "./given.ts";

const queueUrl = "https://sqs.us-east-1.amazonaws.com/000000000000/reservations.fifo";
vi.stubEnv("RESERVATIONS_QUEUE_URL", queueUrl);
vi.stubEnv("STOCK_TABLE", "stock");
vi.stubEnv("IDEMPOTENCY_TABLE", "idempotency");
const { requestReservation } = await import("../../examples/sqs-fifo/producer.ts");
const { handler } = await import("../../examples/sqs-fifo/handler.ts");

const tea = { orderId: "order-1", sku: "tea", quantity: 2 };
const HOUR_MS = 3_600_000;

// The message that can't succeed is reported at each of its deliveries.
vi.spyOn(console, "error").mockImplementation(() => {});

it("reserves once, whatever crashes, gets lost, is sent twice or is redriven", async () => {
  const requests = await underEachFault(async (aws) => {
    aws.table("stock", { partitionKey: "sku" });
    aws.table("idempotency", { partitionKey: "pk" });
    // One crash is enough to get a message there, even if it has been done.
    const deadLetter = { queue: "dead.fifo", maxReceives: 1 };
    aws.queue("reservations.fifo", { deadLetter, visibilitySeconds: 180 });
    const producer = aws.lambda(requestReservation);
    aws.connectQueue(aws.lambda(handler), { queueUrl });
    const redrive = async () => {
      await aws.untilIdle();
      // Leases have ended, and the queue has forgotten what it got.
      await aws.clock.sleep(HOUR_MS);
      await aws.sqs.call("StartMessageMoveTask", {
        SourceArn: "arn:aws:sqs:us-east-1:000000000000:dead.fifo",
      });
      await aws.untilIdle();
    };

    await aws.run(async () => {
      await producer.invokeAsync(tea);
      await producer.invokeAsync({ orderId: "order-2", sku: "pot", quantity: 0 });
      await redrive();
      await producer.invokeAsync(tea);
      await redrive();
    });

    expect(await itemsIn(aws, "stock")).toEqual([{ sku: "tea", reserved: 2 }]);
    // Only the reservation of nothing is left.
    expect(aws.sqs.backlog(queueUrl.replace("reservations", "dead")).messages).toBe(1);
  });

  expect(requests).toBeGreaterThan(8);
});

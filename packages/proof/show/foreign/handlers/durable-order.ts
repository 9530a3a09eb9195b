import { type DurableContext, withDurableExecution } from "@aws/durable-execution-sdk-js";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";

const sqs = new SQSClient({});

interface Order {
  orderId: string;
  amount: number;
}

async function charge({ orderId, amount }: Order) {
  const response = await fetch("https://payments.example/charges", {
    method: "POST",
    body: JSON.stringify({ orderId, amount }),
  });
  if (!response.ok) throw new Error(`payment provider: ${response.status}`);
  return (await response.json()) as { chargeId: string };
}

export const handler = withDurableExecution(async (order: Order, context: DurableContext) => {
  const { chargeId } = await context.step("charge", () => charge(order));
  await context.wait("until packed", { minutes: 30 });
  await context.step("ship", async () => {
    const message = { QueueUrl: process.env.SHIPPING_QUEUE, MessageBody: JSON.stringify(order) };
    await sqs.send(new SendMessageCommand(message));
  });
  return { orderId: order.orderId, chargeId };
});

import { type DurableContext, withDurableExecution } from "@aws/durable-execution-sdk-js";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";

const db = DynamoDBDocumentClient.from(new DynamoDBClient({}));

interface Subscription {
  customerId: string;
  plan: string;
}

async function subscribe({ customerId, plan }: Subscription) {
  const response = await fetch("https://payments.example/subscriptions", {
    method: "POST",
    headers: { "idempotency-key": `subscribe-${customerId}-${plan}` },
    body: JSON.stringify({ customerId, plan }),
  });
  if (!response.ok) throw new Error(`payment provider: ${response.status}`);
  return (await response.json()) as { subscriptionId: string };
}

export const handler = withDurableExecution(async (input: Subscription, context: DurableContext) => {
  const { subscriptionId } = await context.step("subscribe", () => subscribe(input));
  await context.wait("trial", { hours: 24 });
  await context.step("activate", async () => {
    const Item = { customerId: input.customerId, plan: input.plan, subscriptionId };
    await db.send(new PutCommand({ TableName: process.env.ACCOUNTS_TABLE, Item }));
  });
  return { subscriptionId };
});

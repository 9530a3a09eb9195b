import type { LambdaHandler } from "onceonly-explorer";
import { Simulator } from "onceonly-explorer";
import { expect, it, vi } from "vitest";
import { itemsIn, underEachFault } from "./given.ts";

vi.stubEnv("WALLETS_TABLE", "wallets");
vi.stubEnv("POWERTOOLS_TABLE", "powertools");
vi.stubEnv("IDEMPOTENCY_TABLE", "idempotency");
vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", "pay-order");
const { handler: before } = await import("../../examples/migrate-from-powertools/before.ts");
const { handler: after } = await import("../../examples/migrate-from-powertools/after.ts");

const event = { orderId: "order-1", wallet: "ann", cents: 500 };

/** Invokes it as an asynchronous event, once more an hour later, and returns what is left in the wallet of 2000 cents. */
async function balanceAfter(aws: Simulator, handler: LambdaHandler): Promise<unknown> {
  aws.table("wallets", { partitionKey: "wallet" });
  aws.table("powertools", { partitionKey: "id" });
  aws.table("idempotency", { partitionKey: "pk" });
  const pay = aws.lambda(handler, { timeoutSeconds: 10 });
  const invocation = await aws.run(async () => {
    await aws.dynamodb.call("PutItem", {
      TableName: "wallets",
      Item: { wallet: { S: "ann" }, balance: { N: "2000" } },
    });
    await pay.invokeAsync(event);
    await aws.clock.sleep(3_600_000);
    return pay.invokeAsync(event);
  });
  expect(invocation).toMatchObject({ outcome: "returned", value: { orderId: "order-1", paid: 500 } });
  const [wallet] = await itemsIn(aws, "wallets");
  return wallet?.balance;
}

/** The function dies right after its nth request. */
function crashAfter(request: number): Simulator {
  const aws = new Simulator();
  aws.faults = ({ number }) => (number === request ? { kind: "crash", when: "after" } : undefined);
  return aws;
}

it("the same crash, after the debit: before.ts debits twice, after.ts once", async () => {
  // The second request of each is the one that debits.
  expect(await balanceAfter(crashAfter(2), before)).toBe(1000);
  expect(await balanceAfter(crashAfter(2), after)).toBe(1500);
});

it("after.ts debits once under each fault at each request", async () => {
  const requests = await underEachFault(async (aws) => {
    expect(await balanceAfter(aws, after)).toBe(1500);
  });

  expect(requests).toBe(3);
});

import { afterAll, describe, expect, it } from "vitest";
import { runOnce } from "../../lib/core/run-once.ts";
import { DynamoDBStore } from "../../lib/lean/dynamodb-store.ts";
import { LeanDynamoDB } from "../../lib/lean/lean-dynamodb.ts";
import { explore } from "../../packages/explorer/lib/explorer/explore.ts";
import { removePatches } from "../../packages/explorer/lib/simulator/patches/install.ts";
import { faultsOn, givenAws, rowsOf } from "../../packages/explorer/test/simulator/given.ts";

afterAll(removePatches);

interface Order {
  readonly id: string;
}

/** As a module of a user's: nothing in it knows of the simulator. */
const store = new DynamoDBStore({ tableName: "idempotency" });

function createOrder(order: Order) {
  const options = { operation: "create-order", store, scope: "public", leaseSeconds: 30 } as const;
  return runOnce(options, order.id, order, ({ commit }) =>
    commit(
      { created: order.id },
      {
        writes: [
          { Put: { TableName: "orders", Item: { tenant: "a", id: crypto.randomUUID(), of: order.id } } },
        ],
      },
    ),
  );
}

describe("a handler without the SDK", () => {
  it("H78: is seen with each of its requests, and writes once though answers are lost", async () => {
    const aws = givenAws({ seed: 5 });
    aws.faults = faultsOn(
      (io) => io.attempt === 1,
      { kind: "lost-answer" },
      { kind: "unanswered", when: "after" },
    );
    const fn = aws.lambda(createOrder, { timeoutSeconds: 20 });

    const invocation = await aws.run(() => fn.invoke({ id: "order-1" }));

    expect(invocation).toMatchObject({ outcome: "returned", value: { created: "order-1" } });
    expect(await rowsOf(aws, "orders")).toHaveLength(1);
    const trace = aws.traceText();
    expect(trace).toContain("dynamodb PutItem idempotency [lost-answer]");
    expect(trace).toContain("dynamodb PutItem idempotency (attempt 2)");
    expect(trace).toContain("(attempt 2) → ok");
    expect(aws.clock.now()).toBeGreaterThan(1_700_000_000_000 + 3000);
  });

  it("plays the same again, though another simulation has used up its retries", async () => {
    const client = new LeanDynamoDB({ maxAttempts: 2 });
    const read = () =>
      client.send("GetItem", { TableName: "orders", Key: { tenant: { S: "a" }, id: { S: "1" } } });
    const play = async (reads: number): Promise<string> => {
      const aws = givenAws({ seed: 9 });
      aws.faults = () => ({ kind: "lost-answer" });
      const fn = aws.lambda(async () => {
        for (let count = 0; count < reads; count++) await read().catch(() => undefined);
      });
      await aws.run(() => fn.invoke({}));
      return aws.traceText();
    };

    const first = await play(3);
    await play(100);

    expect(await play(3)).toBe(first);
  });

  it("is explored: exactly once, whatever happens", async () => {
    const report = await explore(
      createOrder,
      { id: "order-1" },
      {
        tables: { orders: { partitionKey: "tenant", sortKey: "id" } },
        idempotencyTable: "idempotency",
      },
    );

    expect(String(report)).toContain("exactly once");
    expect(report.findings).toEqual([]);
  });
});

// A move between two tables, each invocation by an instance of another stage, crashed at each of its requests.
import "../../../../test/kit/shop/environment.ts";
import { httpIdempotent, type Store } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import { migrating } from "onceonly/stores";
import { describe, expect, it } from "vitest";
import { postOrder } from "../../../../test/kit/shop/events.ts";
import { explore } from "../../lib/explorer/explore.ts";
import type { LambdaHandler } from "../../lib/simulator/simulated-function.ts";
import { shop } from "./seeded-bugs/control.ts";

const from = new DynamoDBStore({ tableName: "idempotency" });
const to = new DynamoDBStore({ tableName: "idempotency-2" });
const stages: readonly Store<DynamoDBWrite>[] = [
  from,
  migrating(from, to),
  migrating(from, to, { commitsIn: "to" }),
  to,
];

/** Instances that take turns: of one stage, and of another one. */
function taking(turns: readonly number[]): { handler: LambdaHandler; setUp: () => void } {
  let invocations = 0;
  const handlers = turns.map((stage) =>
    httpIdempotent(
      async (_: unknown, { idempotency }) =>
        idempotency.commit(
          { statusCode: 201, body: "created" },
          { writes: [{ Put: { TableName: "orders", Item: { tenant: "acme", id: crypto.randomUUID() } } }] },
        ),
      { operation: "create-order", store: stages[stage - 1] as Store<DynamoDBWrite>, scope: "public" },
    ),
  );
  return {
    handler: (event, context) => (handlers[invocations++ % handlers.length] as LambdaHandler)(event, context),
    setUp: () => {
      invocations = 0;
    },
  };
}

describe("explore, of a move between two tables", () => {
  it.each([
    [1, 2],
    [2, 1],
    [2, 3],
    [3, 2],
    [3, 4],
    [4, 3],
  ])("H69: instances of stage %s and %s in turn have one effect, whatever dies", async (...turns) => {
    const { handler, setUp } = taking(turns);

    const report = await explore(handler, postOrder(), {
      ...shop,
      idempotencyTable: ["idempotency", "idempotency-2"],
      setUp,
    });

    expect(report).toBeExactlyOnce();
  });

  it("H69: finds the second effect of a move without stages", async () => {
    const { handler, setUp } = taking([1, 4]);

    const report = await explore(handler, postOrder(), {
      ...shop,
      idempotencyTable: ["idempotency", "idempotency-2"],
      setUp,
    });

    expect(report).not.toBeExactlyOnce();
  });
});

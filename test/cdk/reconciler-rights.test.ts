// What grantResolving grants is what a reconciler asks the table for: nothing is missing, and nothing is idle.
import { randomUUID } from "node:crypto";
import { fakeClock } from "onceonly/testing";
import { expect, inject, it } from "vitest";
import { type Right, rightsOf } from "../../lib/cdk/record-access.ts";
import type { Execution } from "../../lib/core/execution.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import type { VerifyRecord } from "../../lib/core/verify.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { reconciler } from "../../lib/reconciler/reconciler.ts";
import { connect, createOutboxTable } from "../kit/tables.ts";
import { guard } from "./iam-world.ts";

type Run = Execution<DynamoDBWrite>;

it.each(inject("everyDynamodbEngine"))(
  "H60: a reconciler on $name settles keys and steps with these rights, large results too, and needs each of them",
  async ({ endpoint }) => {
    const client = connect(endpoint);
    const tableName = await createOutboxTable(client);
    const clock = fakeClock(Date.now());
    const lasting = { operation: "charge", clock, leaseSeconds: 30, renewLease: false } as const;
    const options = { ...lasting, store: new DynamoDBStore({ tableName, client }) };
    const dies = (key: string, work: (execution: Run) => unknown = () => new Promise(() => {})) =>
      new Promise<void>((begun) => {
        void runOnce({ ...options, whenAbandoned: "hold" }, key, {}, (execution) => {
          begun();
          return work(execution);
        });
      });
    const isBegun = async () => {
      const listed = options.store.unknownOutcomes({ before: clock.now() + 3_600_000 });
      for await (const { steps } of listed) if (steps?.length) return true;
      return false;
    };
    for (const key of ["large", "not", "unknown"]) await dies(key);
    const charge = () => new Promise(() => {});
    await dies("step", ({ step }) => step("charge", charge, { atMostOnce: true }));
    await expect.poll(isBegun).toBe(true);
    await clock.advance(100_000);

    const large = Array.from({ length: 2000 }, () => randomUUID());
    const verdicts: ReturnType<VerifyRecord>[] = [
      { outcome: "happened", result: large },
      { outcome: "did-not-happen" },
      { outcome: "unknown" },
    ];
    const rights: readonly Right[] = [...rightsOf({}, true), { actions: ["dynamodb:Query"], conditions: {} }];
    const guarded = connect(endpoint);
    const seen = guard(guarded, tableName, rights);
    const handler = reconciler({
      store: new DynamoDBStore({ tableName, client: guarded }),
      clock,
      operations: {
        charge: {
          verify: () => verdicts.shift() ?? { outcome: "unknown" },
          steps: { charge: () => ({ outcome: "happened", result: large }) },
        },
      },
    });

    expect(await handler()).toMatchObject({ happened: 2, didNotHappen: 1, unknown: 1, unrecorded: 0 });

    expect([...new Set(seen.map(({ action }) => action))].sort()).toEqual(
      rights.flatMap(({ actions }) => actions).sort(),
    );
    const retry = ({ step }: Run) => step<unknown>("charge", () => "again", { atMostOnce: true });
    expect(await runOnce({ ...options, whenAbandoned: "hold" }, "step", {}, retry)).toEqual(large);
  },
);

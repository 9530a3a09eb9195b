// A table restored from a backup an hour old, behind the rights that the construct gives. What callers repeat is refused
// while they still repeat it, and no operation of the lost hour runs again unseen.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { Duration } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { type DecisionEvent, runOnce } from "onceonly";
import { IdempotencyTable, UseIdempotency } from "onceonly/cdk";
import { DynamoDBStore } from "onceonly/dynamodb";
import { fakeClock } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { DynamoDBModel } from "../../packages/explorer/lib/aws/dynamodb/dynamodb-model.ts";
import { clientError } from "../kit/faults/faulty-client.ts";
import { rightsOf } from "../kit/rights.ts";
import { createTable } from "../kit/tables.ts";
import { unitStack } from "./app-given.ts";
import { aFunction } from "./given.ts";

const MINUTE = 60_000;
const RESTORED_AT = Date.parse("2026-01-01T12:00:00Z");
/** Over which callers repeat. */
const WINDOW_MINUTES = 30;

/** The time from which IAM lets requests through, as the construct's own statement says it. */
function opensAt(restoredAt: number | undefined): number {
  const stack = unitStack();
  const fn = aFunction(stack);
  const restored = restoredAt === undefined ? {} : { restoredAt: new Date(restoredAt) };
  const table = new IdempotencyTable(stack, "Table", restored);
  fn.with(new UseIdempotency(table, { clientWindow: Duration.minutes(WINDOW_MINUTES) }));
  const [right] = rightsOf(Template.fromStack(stack), "FnServiceRole");
  const condition = right?.condition as
    | { readonly DateGreaterThanEquals: { readonly "aws:CurrentTime": string } }
    | undefined;
  return Date.parse(condition?.DateGreaterThanEquals["aws:CurrentTime"] ?? "1970-01-01");
}

/** An hour of operations, of which the backup knows none; then the restored table, as a function reaches it. */
async function afterRestore(openFrom: number) {
  const clock = fakeClock(RESTORED_AT - 60 * MINUTE);
  const model = new DynamoDBModel({ clock });
  const mayPass = { from: 0 };
  const client = new DynamoDBClient({
    ...model.clientConfig({
      intercept: (_call, run) => {
        if (clock.now() < mayPass.from) throw clientError("AccessDeniedException");
        return run();
      },
    }),
    maxAttempts: 1,
  });
  const effects: string[] = [];
  const reported: DecisionEvent[] = [];
  const table = { name: await createTable(client) };
  const call = (key: string) => {
    const store = new DynamoDBStore({ tableName: table.name, client });
    const observe = (event: DecisionEvent) => void reported.push(event);
    const options = { operation: "pay", store, clock, leaseSeconds: 30, observe };
    const answer = runOnce(options, key, {}, () => {
      effects.push(key);
      return "paid";
    });
    return clock.run(answer.catch((error: { code: string }) => error.code));
  };
  for (let minute = 0; minute < 60; minute += 10) {
    await call(`order ${minute}`);
    await clock.advance(10 * MINUTE);
  }
  // The backup is older than all of that.
  table.name = await createTable(client);
  mayPass.from = openFrom;
  return { clock, call, effects, reported };
}

describe("UseIdempotency on a restored table", () => {
  it("H56: refuses the last hour's operations, as long as callers repeat them, and then runs new ones", async () => {
    const { clock, call, effects, reported } = await afterRestore(opensAt(RESTORED_AT));
    const before = [...effects];
    reported.length = 0;

    const answers = [];
    for (let minute = 0; minute < WINDOW_MINUTES; minute++) {
      answers.push(await call(`order ${(minute % 6) * 10}`));
      await clock.advance(MINUTE);
    }
    const later = await call("a new order");

    expect(new Set(answers)).toEqual(new Set(["STORE_UNAVAILABLE"]));
    expect(reported.filter(({ decision }) => decision === "store-failed").length).toBeGreaterThan(0);
    expect([later, effects]).toEqual(["paid", [...before, "a new order"]]);
  });

  it("H56: without `restoredAt` the last hour runs again", async () => {
    const { call, effects } = await afterRestore(opensAt(undefined));

    await call("order 50");

    expect(effects.filter((key) => key === "order 50")).toHaveLength(2);
  });
});

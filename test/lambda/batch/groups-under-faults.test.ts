// Batches whose requests are lost, throttled, late or cut off by the end of the process, in any order: each message has its
// effect once. Whatever is left comes again, as a queue sends it, when the leases of the dead have ended.

import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import type { SQSRecord } from "aws-lambda";
import * as fc from "fast-check";
import { type BatchOptions, idempotentBatch } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import { fakeClock, fakeLambdaContext, fakeRandom } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { DynamoDBModel } from "../../../packages/explorer/lib/aws/dynamodb/dynamodb-model.ts";
import { aroundRequests } from "../../kit/faults/around-requests.ts";
import { clientError } from "../../kit/faults/faulty-client.ts";
import { createTable } from "../../kit/tables.ts";
import { answered, fifoRecord, returned, sqsRecord } from "./given.ts";

const FAULTS = ["unsent", "lost", "late", "throttled", "refused", "die-before", "die-after", "part"] as const;
type Fault = (typeof FAULTS)[number] | "none";

const LEASE_SECONDS = 30;
const MAX_DELIVERIES = 40;

async function world(plan: readonly Fault[]) {
  const clock = fakeClock();
  const model = new DynamoDBModel({ clock });
  const client = new DynamoDBClient({ ...model.clientConfig(), maxAttempts: 1 });
  const [records, orders] = [await createTable(client), await createTable(client, "id")];
  const faults = plan.values();
  const late: (() => Promise<unknown>)[] = [];
  let die = () => {};

  /** A client of its own for each process: a dead one sends nothing more. */
  const newProcess = () => {
    const own = new DynamoDBClient({ ...model.clientConfig(), maxAttempts: 1 });
    let isDead = false;
    const died = new Promise<void>((resolve) => {
      die = () => {
        isDead = true;
        resolve();
      };
    });
    const never = () => new Promise<never>(() => {});
    aroundRequests(
      own,
      async ({ command, input, send }) => {
        if (isDead) return never();
        const fault: Fault = faults.next().value ?? "none";
        const timeout = clientError("TimeoutError", {}, 0);
        if (fault === "unsent") throw timeout;
        if (fault === "throttled") throw clientError("ThrottlingException");
        if (fault === "late") {
          late.push(() => send());
          throw timeout;
        }
        if (fault === "refused" && command === "BatchExecuteStatement") {
          throw clientError("AccessDeniedException");
        }
        if (fault === "die-before") die();
        if (isDead) return never();
        const { Statements = [] } = input as { Statements?: readonly object[] };
        if (fault === "part" && Statements.length > 1) {
          await send({ Statements: Statements.slice(1) });
          throw timeout;
        }
        const answer = await send().catch((error: Error) => error);
        if (fault === "die-after") die();
        if (isDead) return never();
        if (fault === "lost") throw timeout;
        if (answer instanceof Error) throw answer;
        return answer;
      },
      { at: "front" },
    );
    return { client: own, died };
  };

  return { clock, client, newProcess, records, orders, late };
}

async function consume(
  plan: readonly Fault[],
  Records: readonly SQSRecord[],
  more: Partial<BatchOptions<SQSRecord, DynamoDBWrite>>,
) {
  const { clock, client, newProcess, records, orders, late } = await world(plan);
  let left = Records;
  for (let delivery = 0; left.length > 0; delivery++) {
    expect(delivery, "deliveries").toBeLessThan(MAX_DELIVERIES);
    const { client: own, died } = newProcess();
    const handler = idempotentBatch<SQSRecord, DynamoDBWrite>(
      ({ body }, { idempotency }) =>
        idempotency.commit(null, {
          writes: [
            {
              Update: {
                TableName: orders,
                Key: { id: body },
                UpdateExpression: "ADD runs :one",
                ExpressionAttributeValues: { ":one": 1 },
              },
            },
          ],
        }),
      {
        operation: "count-order",
        store: new DynamoDBStore({ tableName: records, client: own }),
        key: ({ body }) => body,
        leaseSeconds: LEASE_SECONDS,
        clock,
        random: fakeRandom(delivery),
        onRecordError: () => {},
        ...more,
      },
    );
    const context = fakeLambdaContext({ clock, remainingMs: LEASE_SECONDS * 1000 });
    const answer = answered(handler({ Records: left }, context)).then(returned);
    const failed = await clock.run(Promise.race([answer, died.then(() => undefined)]));
    if (failed) left = left.filter(({ messageId }) => failed.includes(messageId));
    for (const copy of late.splice(0)) await copy().catch(() => {});
    await clock.advance(2 * LEASE_SECONDS * 1000);
  }
  const { Items = [] } = await client.send(new ScanCommand({ TableName: orders }));
  return Object.fromEntries(Items.map(({ id, runs }) => [id?.S, Number(runs?.N)]));
}

const plans = fc.array(fc.constantFrom<Fault>("none", "none", ...FAULTS), { maxLength: 25 });
const once = { a: 1, b: 1, c: 1, d: 1, e: 1 };
const STANDARD = ["a", "b", "c", "a", "d", "e", "b"].map((body, index) => sqsRecord(`m${index}`, body));
const FIFO = ["a", "b", "c", "d", "e"].map((body, index) => ({
  ...fifoRecord(`f${index}`, `group ${index % 3}`),
  body,
}));

describe.each([
  ["claimed, on a standard queue", STANDARD, {}],
  ["claimed, on a FIFO queue", FIFO, {}],
  ["optimistic, on a standard queue", STANDARD, { mode: "optimistic" }],
  ["optimistic, on a FIFO queue", FIFO, { mode: "optimistic" }],
] as const)("idempotentBatch in groups, %s", (_, records, more) => {
  it("H3: has each effect once under any faults", { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        expect(await consume(plan, records, more)).toEqual(once);
      }),
      { numRuns: 40 },
    );
  });
});
